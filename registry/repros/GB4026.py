"""`triton.set_allocator` is called inside the compiled function. It sets a
global function that gives memory to Triton kernels, and a graph can't record
that."""
import torch
import triton
from torch._dynamo.decorators import skip

REQUIRES = {"device": "cuda", "module": "triton", "release": ">=2.11,<2.12"}


def allocate(size, alignment, stream):
    return torch.empty(size, device="cuda", dtype=torch.int8)


def score(x):
    return x.exp().softmax(0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    triton.set_allocator(allocate)
    return x.exp().softmax(0)


@skip
def fixed(x):
    """Use this when your kernels need the allocator. Set it in the caller,
    before you call the compiled function. `skip` stands for a caller that you
    don't compile."""
    triton.set_allocator(allocate)
    return score(x)
