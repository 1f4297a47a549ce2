"""You call a collective that Dynamo can't trace: `broadcast`, `reduce`,
`scatter`, `gather` or `barrier`. They fill in options of a C++ class first."""
import torch
import torch.distributed as dist
from torch._dynamo.decorators import skip

TITLE = "dist.broadcast()"

if not dist.is_initialized():  # one process is enough to show it
    store = dist.HashStore()
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)


def encode(x):
    return x.sin()


def decode(hidden):
    return hidden.cos()


def inputs():
    return (torch.randn(8),)


def broken(x):
    hidden = x.sin()
    dist.broadcast(hidden, 0)
    return hidden.cos()


@skip
def fixed(x):
    """Use this when you can split the function at the collective. Call it
    between two compiled functions, in a caller that you don't compile (`skip`
    stands for that). `all_reduce` and `all_gather` may stay: Dynamo traces
    them."""
    hidden = encode(x)
    dist.broadcast(hidden, 0)
    return decode(hidden)
