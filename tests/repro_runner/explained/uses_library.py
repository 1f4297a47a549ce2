"""Calls a library, and compiles nothing itself."""

import torch
from library import Net, normalised, smooth  # type: ignore[import-not-found]


def step(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    return y * 3


class Head(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x + 1


if __name__ == "__main__":
    net, head = Net(), Head()
    for _ in range(3):
        x = torch.rand(3)
        normalised(x)
        smooth(x)
        step(x)
        net(x)
        Net.scaled(x)
        head(x)
