"""A function of another module registers a hook on a tensor and keeps the
handle in a global variable of that module. Dynamo can't write such a handle to
a global. (`exec` stands for the other module.)"""
import torch

other = {}
exec(
    """
handles = {}

def doubled(x):
    global handle
    handle = x.register_hook(lambda grad: grad * 2)
    return x.sin()

def doubled_in_dict(x):
    handles["x"] = x.register_hook(lambda grad: grad * 2)
    return x.sin()
""",
    other,
)
EFFECTS = {"fixed": "The handle is in a dict of that module, and no longer in a global of its own."}
doubled = other["doubled"]
doubled_in_dict = other["doubled_in_dict"]


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    return doubled(x)


def fixed(x):
    """Use this when the hook will be removed later. Let the module keep the
    handle in a dict or an object."""
    return doubled_in_dict(x)
