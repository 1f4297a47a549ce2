"""`P2POp` describes a message to another process. Compiling such messages is
experimental and switched off."""
import torch
import torch.distributed as dist

REQUIRES = {"module": "torch.distributed"}
FLAGS = {"fixed_flag": {"enable_p2p_compilation": True}}

if not dist.is_initialized():
    # "fake" sends nothing, so one process is enough to try it out.
    store = dist.HashStore()
    dist.init_process_group("fake", store=store, rank=0, world_size=2)


def inputs():
    return (torch.randn(8),)


def broken(x):
    message = dist.P2POp(dist.isend, x, 1)
    return message.tensor + message.peer


def fixed_flag(x):
    """Use this when you want the messages in the graph. The flag
    `enable_p2p_compilation` allows it. The cost: it is experimental."""
    message = dist.P2POp(dist.isend, x, 1)
    return message.tensor + message.peer
