"""A collective with `async_op=True` returns a handle to wait on. A graph
holds tensors, and Dynamo has no way to record that handle."""
import torch
import torch.distributed as dist

if not dist.is_initialized():  # one process is enough to show it
    store = dist.HashStore()
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)


def inputs():
    return (torch.randn(8),)


def broken(x):
    total = x.sin()
    work = dist.all_reduce(total, async_op=True)
    work.wait()
    return total.cos()


def fixed(x):
    """Use this when you wait for the result anyway. Leave `async_op` out:
    Dynamo puts the collective and the wait for it into the graph."""
    total = x.sin()
    dist.all_reduce(total)
    return total.cos()
