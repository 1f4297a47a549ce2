"""The policy for `checkpoint` is an object created inside the compiled
function. Dynamo needs it while compiling, when it doesn't exist yet."""
import functools

import torch
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts as contexts,
)


class SaveSin:
    def __call__(self, ctx, op, *args, **kwargs):
        if op is torch.ops.aten.sin.default:
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.PREFER_RECOMPUTE


SAVE_SIN = SaveSin()


def block(x):
    return x.sin().cos()


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    context_fn = functools.partial(contexts, SaveSin())
    return checkpoint(block, x, use_reentrant=False, context_fn=context_fn)


def fixed(x):
    """Use this when all calls can share one policy. Create it once, outside
    the compiled function."""
    context_fn = functools.partial(contexts, SAVE_SIN)
    return checkpoint(block, x, use_reentrant=False, context_fn=context_fn)
