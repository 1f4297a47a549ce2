"""A tuple and a list contain each other, and both must survive the call.
Dynamo has to build them anew, and can't build a tuple that contains itself."""
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
    """Both need the link to the other: make both of them lists. A list can be
    created first, and filled afterwards."""
    children = [x.sin()]
    root = [children]
    children.append(root)
    TREE["root"] = root
    return children[0] + 1


CHILDREN = []
ROOT = (CHILDREN,)


def fixed_outside(x):
    """There is one tree only, and it has to be a tuple: build it once, outside,
    and fill its list in each call."""
    CHILDREN[:] = [x.sin(), ROOT]
    TREE["root"] = ROOT
    return CHILDREN[0] + 1
