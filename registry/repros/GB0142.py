"""The object after `with` was made outside the compiled function. Dynamo
knows `torch.no_grad()`, but not how to enter this existing object."""
import torch

EFFECTS = {
    "fixed": "An object that you enter keeps the mode from before the block in"
    " its attribute `prev`. The fix makes a new object, so `NO_GRAD` stays as"
    " it was. No code but the object itself needs `prev`."
}

NO_GRAD = torch.no_grad()


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    with NO_GRAD:
        return x.sin()


def fixed(x):
    """Use this when nothing else needs the existing context manager. Make a
    new one where you enter it."""
    with torch.no_grad():
        return x.sin()
