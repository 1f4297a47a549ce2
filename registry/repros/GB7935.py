"""The `context_fn` of `checkpoint` is a method of an object created inside the
compiled function. Dynamo needs this object while compiling, when it doesn't
exist yet."""
import functools

import torch
from torch.utils.checkpoint import (
    checkpoint,
    create_selective_checkpoint_contexts as contexts,
)

REQUIRES = {"release": ">=2.15"}


class Saved:
    def __init__(self, *ops):
        self.ops = list(ops)

    def make(self):
        return contexts(self.ops)


SIN = torch.ops.aten.sin.default
SAVED = Saved(SIN)


def block(x):
    return x.sin().cos()


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    saved = Saved(SIN)
    return checkpoint(block, x, use_reentrant=False, context_fn=saved.make)


def fixed(x):
    """Use this when all calls can share the object. Create it once, outside
    the compiled function."""
    return checkpoint(block, x, use_reentrant=False, context_fn=SAVED.make)


def fixed_partial(x):
    """Use this when the settings are chosen inside. Pass a function and its
    arguments with `functools.partial`, without an object."""
    make = functools.partial(contexts, [SIN])
    return checkpoint(block, x, use_reentrant=False, context_fn=make)
