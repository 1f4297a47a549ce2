"""Several sends and receives are started together with `batch_isend_irecv`.
Dynamo can put that into a graph, but by default the flag for it is off."""
import torch
import torch.distributed as dist

REQUIRES = {"module": "torch.distributed"}
FLAGS = {"fixed_flag": {"enable_p2p_compilation": True}}

if not dist.is_initialized():
    # "fake" sends nothing, so one process is enough to try it out.
    store = dist.HashStore()
    dist.init_process_group("fake", store=store, rank=0, world_size=2)

BUFFER = torch.zeros(8)
SENDS = [dist.P2POp(dist.isend, BUFFER, 1)]


def inputs():
    return (torch.randn(8),)


def broken(x):
    BUFFER.copy_(x)
    [work] = dist.batch_isend_irecv(SENDS)
    work.wait()
    return x + 1


def fixed_flag(x):
    """Use this when you want the whole batch of messages in the graph. Turn on
    `enable_p2p_compilation`. It is experimental: compare the results of a few
    steps with eager before you rely on it."""
    BUFFER.copy_(x)
    [work] = dist.batch_isend_irecv(SENDS)
    work.wait()
    return x + 1
