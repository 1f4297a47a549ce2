"""`isinstance(x, ...)` gets a tensor and a class with a check of its own, such
as a `Protocol` or a class that checks shapes. The check could read anything,
so Dynamo doesn't run it while tracing."""
import torch

REQUIRES = {"release": ">=2.14"}


class HasThreeAxes(type):
    def __instancecheck__(cls, value):
        return torch.is_tensor(value) and value.dim() == 3


class Image(metaclass=HasThreeAxes):
    pass


def inputs():
    return (torch.randn(3, 4, 4),)


def broken(x):
    return x.mean((1, 2)) if isinstance(x, Image) else x


def fixed(x):
    """Use this when the class exists only for the check. Write the check out:
    Dynamo knows `is_tensor` and `dim`."""
    image = torch.is_tensor(x) and x.dim() == 3
    return x.mean((1, 2)) if image else x
