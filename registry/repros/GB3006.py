"""The address of a tensor is known only when the program runs. Dynamo uses a
placeholder for it, and has no rule for multiplying it."""
import torch
from torch._dynamo.decorators import skip

REACH = "contrived"
NEIGHBOUR = "GB0755"


def shifted(x, offset):
    return x.sin() + offset


def inputs():
    return (torch.randn(8)[int(torch.randint(1, 4, ())) :],)


def broken(x):
    offset = x.data_ptr() * 8 % 128
    return x.sin() + offset


@skip
def fixed(x):
    """Use this when the caller can read the address. Compute there, and pass
    the result. `skip` stands for a caller that you don't compile."""
    return shifted(x, x.data_ptr() * 8 % 128)
