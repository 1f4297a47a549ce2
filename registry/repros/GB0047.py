"""Code that runs while Dynamo traces reaches into Dynamo and calls a traced
inner function with a plain Python number. Inside Dynamo every value must be
wrapped in an object of Dynamo's own."""
import torch
from torch._dynamo.comptime import comptime
from torch._dynamo.variables import VariableTracker

REACH = "private"


def call_plain(context):
    tx = context._i_will_not_complain_if_bc_breaks_InstructionTranslator()
    inner = context.get_local("scaled")
    function = inner._i_will_not_complain_if_bc_breaks_VariableTracker()
    function.call_function(tx, [2], {})


def call_wrapped(context):
    tx = context._i_will_not_complain_if_bc_breaks_InstructionTranslator()
    inner = context.get_local("scaled")
    function = inner._i_will_not_complain_if_bc_breaks_VariableTracker()
    function.call_function(tx, [VariableTracker.build(tx, 2)], {})


def inputs():
    return (torch.randn(8),)


def broken(x):
    def scaled(by):
        return x * by

    comptime(call_plain)
    return scaled(2)


def fixed(x):
    """Use this when your compile-time code calls a traced function. Wrap the
    value with `VariableTracker.build` before you pass it on."""

    def scaled(by):
        return x * by

    comptime(call_wrapped)
    return scaled(2)
