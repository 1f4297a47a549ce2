"""An operator gets a list of a class of its own, such as one from a
configuration library. For torch it is a list, but Dynamo can't write it into a
graph."""
import torch

TITLE = "A subclass of list"


class Parts(list):
    def largest(self):
        return max(self, key=len)


def inputs():
    return torch.randn(4), torch.randn(4)


def broken(x, y):
    parts = Parts([x.sin(), y.cos()])
    return torch.stack(parts)


def fixed(x, y):
    """Use this when the operator needs only the items. Give it a plain
    list."""
    parts = Parts([x.sin(), y.cos()])
    return torch.stack(list(parts))
