"""The branches of a `switch` return an `OrderedDict` with a number in it, and
the program told torch's pytree that this class is no container. So the whole
dict counts as one constant, and a branch may only return int or None."""
import collections

import torch
from torch.utils import _pytree

REACH = "private"
EAGER_RAISES = "UncapturedHigherOrderOpError"
REQUIRES = {"release": ">=2.14"}
_pytree._deregister_pytree_node(collections.OrderedDict)


def inputs():
    return torch.randn(8), torch.randint(2, ())


def broken(x, which):
    switch = torch._higher_order_ops.switch
    info = collections.OrderedDict
    return switch(
        which,
        (lambda x: (x.sin(), info(id=0)), lambda x: (x.cos(), info(id=1))),
        (x,),
    )


def fixed(x, which):
    """Use this when you need the dict afterwards. Return only the tensor and
    the number from the branches, and build the dict outside."""
    switch = torch._higher_order_ops.switch
    y, i = switch(
        which, (lambda x: (x.sin(), 0), lambda x: (x.cos(), 1)), (x,)
    )
    return y, collections.OrderedDict(id=i)
