"""`int(x)`, `float(x)` and `bool(x)` call `.item()` inside. You meet this
where a tensor becomes a setting, such as a number of levels."""
import torch

TITLE = "int(x) and float(x)"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def inputs():
    return (torch.randn(8) * 4,)


def broken(x):
    levels = int(x.abs().max()) + 1
    return (x * levels).round() / levels


def fixed(x):
    """Use this when the number goes back into tensor arithmetic. `.long()` and
    `.double()` change the dtype, and the result is still a tensor. `.int()`
    would overflow at 2 billion, where Python's `int` does not."""
    levels = x.abs().max().long() + 1
    return (x * levels).round() / levels


def fixed_flag(x):
    """Use this when you need a Python number. Set `capture_scalar_outputs`."""
    levels = int(x.abs().max()) + 1
    return (x * levels).round() / levels
