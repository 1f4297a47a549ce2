"""The operator that export puts around code without gradients was called by
hand, with a list as argument. Here Dynamo makes every argument an input of a
recorded graph, and a list can't be one."""
import torch
from torch._higher_order_ops.wrap import wrap_with_set_grad_enabled

REACH = "private"


def inputs():
    return torch.randn(8, requires_grad=True), torch.randn(8)


def broken(x, y):
    return wrap_with_set_grad_enabled(False, lambda xy: xy[0] * xy[1], [x, y])


def fixed(x, y):
    """Use this when you write the code yourself. Use the public context
    manager, `torch.set_grad_enabled`: it does the same."""
    with torch.set_grad_enabled(False):
        return x * y


def fixed_flat(x, y):
    """Use this when you generate such calls. Pass the tensors one by one."""
    return wrap_with_set_grad_enabled(False, lambda x, y: x * y, x, y)
