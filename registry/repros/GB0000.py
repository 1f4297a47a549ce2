"""A tensor subclass declines an operation: its `__torch_function__` returns
NotImplemented. Python would now ask the other operand; Dynamo stops."""
import torch


class Meters(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if any(isinstance(arg, Offset) for arg in args):
            return NotImplemented
        return super().__torch_function__(func, types, args, kwargs)


class Offset:
    def __init__(self, meters):
        self.meters = meters

    def __radd__(self, length):
        return length + self.meters


OFFSET = Offset(2.0)


def inputs():
    return (torch.randn(3),)


def broken(x):
    return x.as_subclass(Meters) + OFFSET


def fixed(x):
    """Use this when you know what the other operand would do. Do it yourself:
    here, add the number that it holds."""
    return x.as_subclass(Meters) + OFFSET.meters
