"""The module is wrapped in FSDP with `use_orig_params=False`, which hides its
parameters in one flat tensor. Dynamo can't trace a module wrapped that way."""
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel

REQUIRES = {"device": "cpu"}
NO_FIX = """The wrapper itself never becomes one graph: with
`use_orig_params=True` it breaks elsewhere. Set that, and compile the module
before you wrap it: then the module is one graph, and FSDP runs around it."""

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
sharded = FullyShardedDataParallel(
    torch.nn.Linear(4, 4), use_orig_params=False, device_id=torch.device("cpu")
)


@torch.compiler.disable
def run(x):
    return sharded(x)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return sharded(x.sin()).cos()


def isolated(x):
    """The function around the module is worth compiling."""
    return run(x.sin()).cos()
