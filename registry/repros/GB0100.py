"""The function registers a hook on a tensor and keeps the handle in a global
variable. Dynamo can't write such a handle to a global."""
import torch

EFFECTS = {
    "fixed": "The handle is in `handles`, so the global `handle` stays `None`.",
    "fixed_forget": "The global `handle` stays `None`: nothing is going to use"
    " it.",
}

handle = None
handles = {}


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    global handle
    handle = x.register_hook(lambda grad: grad * 2)
    return x.sin()


def fixed(x):
    """Use this when you will remove the hook later. Keep the handle in a dict
    or an object."""
    handles["x"] = x.register_hook(lambda grad: grad * 2)
    return x.sin()


def fixed_forget(x):
    """Use this when you never remove the hook. Don't keep the handle."""
    x.register_hook(lambda grad: grad * 2)
    return x.sin()
