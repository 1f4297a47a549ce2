"""`override_optimization_hint` gets a tensor. It wants the number that came out
of a tensor with .item()."""
import torch

torch._dynamo.config.capture_scalar_outputs = True


def wrong(x):
    torch._dynamo.override_optimization_hint(x.max(), 4)
    return x + x.max().item()


def right(x):
    number = x.max().item()
    torch._dynamo.override_optimization_hint(number, 4)
    return x + number


def message():
    torch.compile(wrong, backend="eager", fullgraph=True)(torch.arange(4))


def fixed():
    """Use this when the number comes from a tensor: call `.item()` first."""
    return torch.compile(right, backend="eager", fullgraph=True)(torch.arange(4))


def eager():
    return torch.arange(4) + 3
