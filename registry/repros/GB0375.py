"""A tensor with a forward-mode tangent (`make_dual`) is given to a compiled
function. The compiled code would lose the tangent, so Dynamo leaves the
function to Python."""
import torch
import torch.autograd.forward_ad as forward_ad
from torch._dynamo.decorators import skip

REQUIRES = {"release": ">=2.14"}


def score(x):
    return x.sin().exp()


def inputs():
    return torch.randn(8), torch.randn(8)


@skip
def broken(x, direction):
    with forward_ad.dual_level():
        y = score(forward_ad.make_dual(x, direction))
        value, tangent = forward_ad.unpack_dual(y)
    return value, tangent


def fixed(x, direction):
    """Use this when you need a directional derivative. `torch.func.jvp` makes
    the dual tensors inside the compiled function, where Dynamo can trace
    them."""
    return torch.func.jvp(score, (x,), (direction,))
