"""A state-space model in the manner of Mamba 2, of plain torch ops: nothing to download, no kernels of its own.

Each head keeps a state that decays by a factor chosen per position, takes in the input there, and is read out. Written
as a sum over all earlier positions it is a matrix product with a mask of decays, so that a sequence needs no loop. That
is exact; its cost grows with the square of the length, as attention's does.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

_CONVOLVED = 4
"""How many positions, itself included, each position sees before the state does."""
_EXPAND = 2
_EMBEDDED = 0.02
"""Small, as language models are initialised: torch's own 1 gives scores whose rounding errors look like mistakes."""


class StateSpaceModel(nn.Module):
    """Tokens to scores for the next token; the embedding is also the last layer's matrix."""

    def __init__(self, *, vocabulary: int, width: int, layers: int, state: int, heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=_EMBEDDED)
        self.layers = nn.ModuleList(_Layer(width, state, heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return functional.linear(self.norm(x), self.embedding.weight)


class _Layer(nn.Module):
    def __init__(self, width: int, state: int, heads: int) -> None:
        super().__init__()
        self.inner, self.state, self.heads = _EXPAND * width, state, heads
        self.norm = nn.RMSNorm(width)
        self.enter = nn.Linear(width, 2 * self.inner + 2 * state + heads, bias=False)
        mixed = self.inner + 2 * state
        self.mix = nn.Conv1d(mixed, mixed, _CONVOLVED, groups=mixed, padding=_CONVOLVED - 1)
        self.step_bias = nn.Parameter(torch.full((heads,), -2.0))
        self.log_decay = nn.Parameter(torch.arange(1.0, heads + 1).log())
        self.skip = nn.Parameter(torch.ones(heads))
        self.gate_norm = nn.RMSNorm(self.inner)
        self.leave = nn.Linear(self.inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        widths = [self.inner, self.inner + 2 * self.state, self.heads]
        gate, mixed, step = torch.split(self.enter(self.norm(x)), widths, dim=-1)
        mixed = functional.silu(self.mix(mixed.transpose(1, 2))[..., :length].transpose(1, 2))
        values, keys, queries = torch.split(mixed, [self.inner, self.state, self.state], dim=-1)
        values = torch.unflatten(values, -1, (self.heads, -1))
        step = functional.softplus(step + self.step_bias)
        read = scan(values * step[..., None], -step * self.log_decay.exp(), keys, queries)
        read = (read + self.skip[:, None] * values).flatten(-2)
        left: Tensor = self.leave(self.gate_norm(read * functional.silu(gate)))
        return x + left


def scan(values: Tensor, log_decays: Tensor, keys: Tensor, queries: Tensor) -> Tensor:
    """What each position reads: state[t] = exp(log_decays[t]) · state[t-1] + keys[t] ⊗ values[t], times queries[t].

    values (batch, length, heads, channels), log_decays (batch, length, heads), keys and queries (batch, length, state).
    """
    length = values.shape[1]
    total = log_decays.cumsum(1).transpose(1, 2)
    decays = total[..., :, None] - total[..., None, :]
    later = torch.ones(length, length, dtype=torch.bool, device=values.device).triu(1)
    weights = decays.masked_fill(later, -torch.inf).exp() * (queries @ keys.transpose(1, 2))[:, None]
    return torch.einsum("bhts,bshc->bthc", weights, values)
