"""The tensors that stay the same in a `while_loop` were given to the operator
as a named tuple. Dynamo accepts a plain tuple or list."""
from typing import NamedTuple

import torch

TITLE = "A named tuple"
REACH = "private"


class Extra(NamedTuple):
    step: torch.Tensor


def inputs():
    return torch.randn(8), torch.rand(8) + 1


def broken(x, step):
    loop = torch.ops.higher_order.while_loop
    return loop(
        lambda x, step: x.sum() < 9,
        lambda x, step: (x + step,),
        (x,),
        Extra(step),
    )


def fixed(x, step):
    """Use this when the loop needs tensors that stay the same. The documented
    function has no argument for them: the loop's functions just use the
    tensors they see."""
    loop = torch._higher_order_ops.while_loop
    return loop(
        lambda x: x.sum() < 9, lambda x: (x + step,), (x.contiguous(),)
    )
