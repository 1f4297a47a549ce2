"""The compiled function removes a hook that was registered before it ran.
Dynamo can deal with a hook's handle only in the function that registered
it."""
import torch

EFFECTS = {
    "fixed": "The flag in `HOOK` is off after the call, and the hook is still"
    " registered. To use the hook again, set the flag again."
}

HOOK = {"on": True}


def double(module, args, output):
    return output * 2 if HOOK["on"] else output


def inputs():
    layer = torch.nn.Linear(4, 4)
    HOOK["on"] = True
    layer.handle = layer.register_forward_hook(double)
    return layer, torch.randn(4)


def broken(layer, x):
    y = layer(x)
    layer.handle.remove()
    return y + layer(x)


def fixed(layer, x):
    """Use this when the hook must end inside the compiled function. Leave it
    registered, and switch it off with a flag that it reads. If it may end
    later, call `remove()` outside."""
    y = layer(x)
    HOOK["on"] = False
    return y + layer(x)
