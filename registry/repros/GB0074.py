"""A compile-time callback writes a module call into the graph by hand, inside
a checkpointed function. Dynamo puts module calls only into the outermost
graph; elsewhere it traces the module's code instead."""
import torch
from torch._dynamo.comptime import comptime
from torch.utils.checkpoint import checkpoint

REACH = "private"


def insert(ctx, kind, target):
    tx = ctx._i_will_not_complain_if_bc_breaks_InstructionTranslator()
    tx.output.create_proxy(kind, target, (ctx.get_local("x").as_proxy(),), {})


def block(x):
    comptime(lambda ctx: insert(ctx, "call_module", "relu"))
    return x.sin()


def block_function(x):
    comptime(lambda ctx: insert(ctx, "call_function", torch.relu))
    return x.sin()


def inputs():
    return (torch.randn(4),)


def broken(x):
    return checkpoint(block, x, use_reentrant=False)


def fixed(x):
    """Use this when a function does the same as the module. Write a call of
    that function into the graph."""
    return checkpoint(block_function, x, use_reentrant=False)
