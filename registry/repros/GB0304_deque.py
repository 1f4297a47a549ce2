"""The tensors that stay the same in a `while_loop` were given to the operator
in a deque. The operator accepts a tuple or a list, in eager mode, too."""
import collections

import torch

TITLE = "A deque"
REACH = "private"
EAGER_RAISES = "RuntimeError"


def inputs():
    return torch.randn(8), torch.rand(8) + 1


def broken(x, step):
    loop = torch.ops.higher_order.while_loop
    return loop(
        lambda x, step: x.sum() < 9,
        lambda x, step: (x + step,),
        (x,),
        collections.deque([step]),
    )


def fixed(x, step):
    """Use this when the loop needs tensors that stay the same. The documented
    function has no argument for them: the loop's functions just use the
    tensors they see."""
    loop = torch._higher_order_ops.while_loop
    return loop(lambda x: x.sum() < 9, lambda x: (x + step,), (x,))
