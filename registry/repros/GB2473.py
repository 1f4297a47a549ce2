"""The graph breaks inside a `with torch.cuda.use_mem_pool(...)` block. Dynamo
can't leave such a block and enter it again, so it leaves the whole function to
Python."""
import torch

REQUIRES = {"device": "cuda", "release": ">=2.14"}
POOL = torch.cuda.MemPool()


def inputs():
    return (torch.randn(8),)


def broken(x):
    with torch.cuda.use_mem_pool(POOL):
        y = x.exp()
        return y.log1p() if y.mean() > 2 else y * 2


def fixed(x):
    """Use this when you can remove the break inside the block. Here it is a
    branch, and `torch.where` selects instead."""
    with torch.cuda.use_mem_pool(POOL):
        y = x.exp()
        return torch.where(y.mean() > 2, y.log1p(), y * 2)
