"""The compiled function reads from a dataset of `torch.utils.data`. Dynamo has
a list of modules that it doesn't trace into, and this is one of them."""
import torch
from torch.utils.data import TensorDataset


def inputs():
    return (TensorDataset(torch.randn(4, 8), torch.randn(4, 8)),)


def broken(data):
    x, y = data[2]
    return (x - y).square().mean()


def fixed(data):
    """The dataset's tensors are at hand: index them yourself, and nothing of
    `torch.utils.data` is called."""
    x, y = (tensor[2] for tensor in data.tensors)
    return (x - y).square().mean()


@torch._dynamo.dont_skip_tracing
def fixed_trace(data):
    """You need the call: `dont_skip_tracing` lets Dynamo trace what the
    decorated function calls. Other breaks may turn up in there."""
    x, y = data[2]
    return (x - y).square().mean()
