"""`_lazy_clone` makes a copy that shares its memory with the original until
somebody writes ("copy on write"). The code then asks whether the original
shares its memory, but Dynamo knows that only for the time before."""
import torch
from torch._dynamo.decorators import skip

REACH = "private"
REQUIRES = {"release": ">=2.14"}


def inputs():
    return (torch.randn(8),)


def wave(x):
    return x.sin()


def broken(x):
    copy = x._lazy_clone()
    return copy.sin(), torch._C._is_cow_tensor(x)


@skip
def fixed(x):
    """Use this when the caller can make the copy. Make it and ask there, and
    compile only what computes. `skip` stands for a caller that you don't
    compile."""
    copy = x._lazy_clone()
    return wave(copy), torch._C._is_cow_tensor(x)
