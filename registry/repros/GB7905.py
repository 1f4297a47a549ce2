"""The code asks a fake tensor whether it shares its memory until somebody
writes to it ("copy on write"). A fake tensor has a shape and a dtype, but no
memory."""
import torch
from torch._dynamo.decorators import skip
from torch._subclasses import FakeTensor, FakeTensorMode

REACH = "private"
EAGER_RAISES = "RuntimeError"
REQUIRES = {"release": ">=2.14"}

with FakeTensorMode():
    EXAMPLE = torch.empty(8)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin(), torch._C._is_cow_tensor(EXAMPLE)


def wave(x):
    return x.sin()


@skip
def fixed(x):
    """Use this when some tensors may be fake. Ask in the caller, and only
    those that have memory. `skip` stands for a caller that you don't
    compile."""
    fake = isinstance(EXAMPLE, FakeTensor)
    return wave(x), not fake and torch._C._is_cow_tensor(EXAMPLE)
