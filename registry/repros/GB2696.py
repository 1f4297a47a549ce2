"""A tensor is sent to another process with `isend`. Dynamo can put that into a
graph, but by default the flag for it is off."""
import torch
import torch.distributed as dist

REQUIRES = {"module": "torch.distributed"}
FLAGS = {"fixed_flag": {"enable_p2p_compilation": True}}

if not dist.is_initialized():  # "fake" plays two processes in one
    dist.init_process_group("fake", rank=0, world_size=2)


def inputs():
    return (torch.randn(8),)


def broken(x):
    work = dist.isend(x, dst=1)
    work.wait()
    return x + 1


def fixed_flag(x):
    """Use this when you want the send in the graph. Turn on
    `enable_p2p_compilation`. It is experimental: compare the results of a few
    steps with eager before you rely on it."""
    work = dist.isend(x, dst=1)
    work.wait()
    return x + 1
