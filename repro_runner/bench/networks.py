"""The benchmark's models, built from their shapes with random weights; nothing is downloaded."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from repro_runner.bench.catalogue import MODELS, Shape
from repro_runner.model_under_test import ModelUnderTest

_CONVOLVED = 4
"""How many positions, itself included, each position sees before the state does."""
_EXPAND = 2
_EMBEDDED = 0.02
"""Small, as language models are initialised: torch's own 1 gives scores whose rounding errors look like mistakes."""


def make_subject(
    name: str, size: str, device: str, *, seed: int = 0, batch: int | None = None, padding: int = 0
) -> ModelUnderTest:
    """A model of the catalogue in evaluation mode, and a batch for it.

    `batch`: samples in it, if not those of the catalogue. `padding`: so many tokens that are masked, or so many rows
    and columns of zeros around an image. A model that knows no padding gets none.
    """
    shape = MODELS[name].sizes[size]
    torch.manual_seed(seed)
    with torch.device(device):
        model = make_model(name, size)
        samples = batch or shape.batch.get(torch.device(device).type, shape.batch["cuda"])
        inputs = _inputs(name, shape, samples)
    padded, mask = _padded(MODELS[name].padded, inputs[0], padding)
    return ModelUnderTest(name=name, model=model, args=(padded,), kwargs=mask, seed=seed)


def make_model(name: str, size: str) -> nn.Module:
    """Without any inputs: also on the device `meta`, where it takes no memory."""
    return _MAKERS[name](MODELS[name].sizes[size].settings).eval()


def count_parameters(model: object) -> int:
    """Each once, also where two layers share it; a plain function has none."""
    return sum(each.numel() for each in model.parameters()) if isinstance(model, nn.Module) else 0


def _inputs(name: str, shape: Shape, batch: int) -> tuple[torch.Tensor, ...]:
    if name == "resnet":
        return (torch.randn(batch, *shape.sample),)
    vocabulary = shape.settings.get("vocab_size") or shape.settings["vocabulary"]
    return (torch.randint(vocabulary, (batch, *shape.sample)),)


def _padded(how: str, sample: Tensor, padding: int) -> tuple[Tensor, dict[str, Tensor]]:
    """The batch with its padding, and the keywords that tell the model about it."""
    if not padding or not how:
        return sample, {}
    if how == "pixels":
        return functional.pad(sample, (padding,) * 4), {}
    mask = functional.pad(torch.ones_like(sample), (0, padding))
    return functional.pad(sample, (0, padding)), {"attention_mask": mask}


def _bert(settings: Mapping[str, int]) -> nn.Module:
    transformers = _transformers()
    model: nn.Module = transformers.BertModel(transformers.BertConfig(**settings))
    return model


def _resnet(settings: Mapping[str, int]) -> nn.Module:
    transformers = _transformers()
    width, depth = settings["width"], settings["depth"]
    config = transformers.ResNetConfig(
        embedding_size=width,
        hidden_sizes=[width * scale for scale in (1, 2, 4, 8)],
        depths=[depth] * 4,
        layer_type="basic",
        num_labels=settings["num_labels"],
    )
    model: nn.Module = transformers.ResNetForImageClassification(config)
    return model


def _transformers() -> Any:
    """Imported when it is needed: the state-space model does without. Its annotations vary with its version."""
    return importlib.import_module("transformers")


class StateSpaceModel(nn.Module):
    """Tokens to scores for the next token, in the manner of Mamba 2, of plain torch ops: no kernels of its own.

    Each head keeps a state that decays by a factor chosen per position, takes in the input there, and is read out.
    Written as a sum over all earlier positions it is a matrix product with a mask of decays, so that a sequence needs
    no loop. That is exact; its cost grows with the square of the length, as attention's does. The embedding is also the
    last layer's matrix.
    """

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


_MAKERS: Mapping[str, Callable[[Mapping[str, int]], nn.Module]] = {
    "bert": _bert,
    "resnet": _resnet,
    "ssm": lambda settings: StateSpaceModel(**settings),
}
