"""A tiny model, and what to call it with."""

import torch
from torch.nn.functional import gelu


class TinyModel(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.body = torch.nn.Linear(8, 12)
        self.head = torch.nn.Linear(12, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = gelu(self.body(self.norm(x)))
        if hidden.mean() > 0:
            hidden = hidden / 2
        scores: torch.Tensor = self.head(hidden)
        return scores


def make_model() -> tuple[torch.nn.Module, torch.Tensor]:
    return TinyModel(), torch.randn(4, 8)
