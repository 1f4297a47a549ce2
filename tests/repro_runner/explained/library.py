"""A library that compiles without saying so, and has functions that it does not compile."""

import torch


@torch.compile(backend="eager")
def normalised(x: torch.Tensor) -> torch.Tensor:
    y = x - x.mean()
    torch._dynamo.graph_break()
    return y / y.std()


def smooth(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.relu()
        torch._dynamo.graph_break()
        return y + 1

    @staticmethod
    def scaled(x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        torch._dynamo.graph_break()
        return y * 2
