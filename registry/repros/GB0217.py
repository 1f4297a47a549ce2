"""`hasattr` is asked about the dict that holds a module's hooks. That dict is
an `OrderedDict`, which may have attributes of its own, and Dynamo doesn't
keep track of those."""
import torch

REACH = "private"

linear = torch.nn.Linear(8, 8)
linear.register_forward_hook(lambda module, args, output: output * 2)
linear._forward_hooks.marked = True
linear.marked = True


def inputs():
    return (torch.randn(8),)


def broken(x):
    marked = hasattr(linear._forward_hooks, "marked")
    return linear(x) if marked else linear(x + 1)


def fixed(x):
    """Use this when you set the mark yourself. Set it on the module, and ask
    the module."""
    marked = hasattr(linear, "marked")
    return linear(x) if marked else linear(x + 1)
