"""The program calls a method or a function whose Python file Dynamo skips on
purpose: `torch.utils.data`, `torch.optim`, `torch.amp`, and libraries such as
`tqdm` and `networkx`. Nothing is wrong with that code, but it isn't meant for
a graph."""
import torch
from torch.utils.data import TensorDataset

TITLE = "A dataset"


def inputs():
    return (TensorDataset(torch.randn(4, 8), torch.randn(4, 8)),)


def broken(data):
    x, y = data[2]
    return (x - y).square().mean()


def fixed(data):
    """Use this when you have access to the dataset's tensors. Index them
    yourself, so that no code of `torch.utils.data` is called."""
    x, y = (tensor[2] for tensor in data.tensors)
    return (x - y).square().mean()


@torch._dynamo.dont_skip_tracing
def fixed_trace(data):
    """Use this when you need the call itself. `dont_skip_tracing` lets Dynamo
    trace what the decorated function calls. Other breaks may turn up in
    there."""
    x, y = data[2]
    return (x - y).square().mean()
