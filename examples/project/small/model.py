"""A model with one graph break that its authors know and allow."""

import torch
from torch import Tensor, nn


class Net(nn.Module):
    """Two layers. The second one is skipped if the first says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.first(x))
        if x.sum() > 0:
            x = self.second(x)
        return x


def loss_of(model: nn.Module, x: Tensor) -> Tensor:
    """What training makes small."""
    return model(x).square().mean()
