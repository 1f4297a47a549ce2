"""A `P2POp`, which describes a message to another process, gets another
tensor after it was created. Dynamo doesn't follow such changes."""
import torch
import torch.distributed as dist

REQUIRES = {"module": "torch.distributed"}
CONFIG = {"enable_p2p_compilation": True}
REACH = "config"

if not dist.is_initialized():
    # "fake" sends nothing, so one process is enough to try it out.
    store = dist.HashStore()
    dist.init_process_group("fake", store=store, rank=0, world_size=2)


def inputs():
    return (torch.randn(8),)


def broken(x):
    message = dist.P2POp(dist.isend, x, 1)
    message.tensor = x.sin()
    return message.tensor + message.peer


def fixed(x):
    """Use this when you know the right tensor beforehand. Create the message
    with that tensor. If you learn it later, create another message."""
    message = dist.P2POp(dist.isend, x.sin(), 1)
    return message.tensor + message.peer
