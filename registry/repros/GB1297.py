"""A tuple and a list contain each other, and both must survive the call.
Dynamo has to build them anew, and can't build a tuple that contains itself."""
import torch

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
