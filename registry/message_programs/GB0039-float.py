"""A Python float changes with every call, and `dynamic=False` makes Dynamo take
it for a constant. Each value costs a version, and after eight Dynamo gives up.
Releases before 2.6 do so without `dynamic=False`, too."""
import torch


def scale(x, rate):
    return x * rate


RATES = [0.1 * n for n in range(1, 11)]


def message():
    x = torch.arange(4.0)
    compiled = torch.compile(scale, backend="eager", dynamic=False)
    return tuple(compiled(x, rate) for rate in RATES)


def fixed():
    """Use this when the number only takes part in tensor arithmetic: pass it as
    a tensor. A tensor's value is never a constant."""
    x = torch.arange(4.0)
    compiled = torch.compile(scale, backend="eager", dynamic=False)
    return tuple(compiled(x, torch.tensor(rate)) for rate in RATES)


def fixed_dynamic():
    """Use this when you can do without `dynamic=False`: by default, Dynamo makes
    a float dynamic when it sees a second value."""
    x = torch.arange(4.0)
    compiled = torch.compile(scale, backend="eager")
    return tuple(compiled(x, rate) for rate in RATES)


def eager():
    x = torch.arange(4.0)
    return tuple(scale(x, rate) for rate in RATES)
