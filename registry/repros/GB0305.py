"""A function wrapped by `local_map` is called with a keyword argument, while
Dynamo is told to keep such functions as one node of the graph. It then takes
their arguments by position only."""
import torch
from torch._dynamo.variables import higher_order_ops
from torch.distributed import HashStore, init_process_group
from torch.distributed.tensor import DeviceMesh, Replicate
from torch.distributed.tensor.experimental import local_map

REACH = "private"
REQUIRES = {"module": "torch.distributed"}

higher_order_ops.LocalMapWrappedHigherOrderVariable._enabled = True
init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
mesh, whole = DeviceMesh("cpu", [0]), (Replicate(),)


def scale(x, by):
    return x * by


by_name = local_map(scale, (whole,), (whole,), device_mesh=mesh)
by_position = local_map(scale, (whole,), (whole, None), device_mesh=mesh)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return by_name(x, by=2)


def fixed(x):
    """Use this when you can change the `local_map` and its call. Pass the
    argument by position. It is not a tensor, so its placement is None."""
    return by_position(x, 2)
