"""A method of `nn.Module` is reached under another name, here as the operator
`module[name] = tensor`. Dynamo doesn't trace the methods of `nn.Module` that
an operator calls."""
import torch

TITLE = "module[name] = tensor"


class Statistics(torch.nn.Module):
    __setitem__ = torch.nn.Module.register_buffer


STATISTICS = Statistics()


def inputs():
    return (torch.randn(4),)


def broken(x):
    STATISTICS["mean"] = x.mean()
    return x - STATISTICS.mean


def fixed(x):
    """Use this when the operator is only another name for the method. Call the
    method by its own name."""
    STATISTICS.register_buffer("mean", x.mean())
    return x - STATISTICS.mean
