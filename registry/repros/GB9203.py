"""One branch of a `switch` returns a tuple and another a list. What comes out
must be built the same way whichever branch is taken."""
import torch

REACH = "private"
EAGER_RAISES = "UncapturedHigherOrderOpError"
REQUIRES = {"release": ">=2.14"}


def inputs():
    return torch.randn(8), torch.randint(2, ())


def broken(x, which):
    switch = torch._higher_order_ops.switch
    a, b = switch(
        which,
        (lambda x: (x.sin(), x.cos()), lambda x: [x.square(), x.neg()]),
        (x,),
    )
    return a * b


def fixed(x, which):
    """Use this when each branch returns several tensors. Return the same kind
    of container from all branches, with the same number of entries."""
    switch = torch._higher_order_ops.switch
    a, b = switch(
        which,
        (lambda x: (x.sin(), x.cos()), lambda x: (x.square(), x.neg())),
        (x,),
    )
    return a * b
