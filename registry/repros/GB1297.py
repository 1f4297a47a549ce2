"""A tuple and a list contain each other, and both must survive the call.
Dynamo has to build both again, and can't build a tuple that contains
itself."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB2533"
EFFECTS = {
    "fixed": "`TREE['root']` is a list, not a tuple. Dynamo can't build a "
    "tuple that contains itself."
}
TREE = {}


def inputs():
    return (torch.randn(8),)


def broken(x):
    children = [x.sin()]
    root = (children,)
    children.append(root)
    TREE["root"] = root
    return children[0] + 1


def fixed(x):
    """Use this when both need a link to the other, and neither must be a
    tuple. Make both of them lists. You can create a list first, and fill it
    afterwards."""
    children = [x.sin()]
    root = [children]
    children.append(root)
    TREE["root"] = root
    return children[0] + 1


CHILDREN = []
ROOT = (CHILDREN,)


def fixed_outside(x):
    """Use this when there is only one tree, and it has to be a tuple. Build it
    once, outside, and fill its list in each call."""
    CHILDREN[:] = [x.sin(), ROOT]
    TREE["root"] = ROOT
    return CHILDREN[0] + 1
