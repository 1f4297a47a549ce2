"""The code writes to a tensor and then asks whether it shares its memory until
somebody writes to it ("copy on write"). Dynamo knows the answer only for the
time before the write."""
import torch
from torch._dynamo.decorators import skip

REACH = "private"
REQUIRES = {"release": ">=2.14"}


def inputs():
    return (torch.randn(8),)


def double(x):
    x.mul_(2)
    return x.sin()


def broken(x):
    x.mul_(2)
    return x.sin(), torch._C._is_cow_tensor(x)


@skip
def fixed(x):
    """Use this when you need the answer after the write. Ask in the caller,
    when the compiled function is done. `skip` stands for a caller that you
    don't compile."""
    y = double(x)
    return y, torch._C._is_cow_tensor(x)
