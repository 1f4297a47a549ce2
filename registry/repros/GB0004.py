"""An attribute of a function is deleted through `super().__delattr__`. Dynamo
follows changes to the attributes of ordinary objects, but not to those of a
function that was defined outside."""
import types

import torch

REACH = "contrived"
NEIGHBOUR = "GB0467"
EFFECTS = {
    "fixed": "The attribute is deleted from the object `ACT`. The function"
    " `act` keeps its own, since the fix doesn't use that function."
}


def act(x):
    return x.relu()


class Act:
    def __call__(self, x):
        return x.relu()


ACT = Act()


def inputs():
    act.scale = ACT.scale = 3
    return (torch.randn(8),)


def broken(x):
    y = act(x) * act.scale
    super(types.FunctionType, act).__delattr__("scale")
    return y, hasattr(act, "scale")


def fixed(x):
    """Use this when the function carries state. Make it an instance of a class
    with `__call__`: Dynamo can add and delete attributes of such an object."""
    y = ACT(x) * ACT.scale
    del ACT.scale
    return y, hasattr(ACT, "scale")
