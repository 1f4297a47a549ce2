"""An object is used as a key, and Dynamo thinks that it can't be one. It
treats the hooks of a module as a plain dict, but here their class can be a
key."""
import collections

import torch

REACH = "private"
EFFECTS = {
    "fixed": "The key in `SEEN` is the module, not its hooks. Dynamo takes "
    "those for a plain dict, which can't be a key."
}
SEEN = {}


class Hooks(collections.OrderedDict):
    __hash__ = object.__hash__


linear = torch.nn.Linear(8, 8)
linear._forward_hooks = Hooks()
linear.register_forward_hook(lambda module, args, output: output * 2)


def inputs():
    SEEN.clear()
    return (torch.randn(8),)


def broken(x):
    SEEN[linear._forward_hooks] = True
    return linear(x)


def fixed(x):
    """Use this when there is one such object for each module. Use the module
    as the key."""
    SEEN[linear] = True
    return linear(x)
