"""Code that runs while Dynamo traces reaches into Dynamo and changes where a
value comes from. It names a source for which Dynamo can't write code, so the
value can't leave the compiled function."""
import torch
from torch._dynamo.comptime import comptime
from torch._dynamo.source import EphemeralSource, LocalSource

TITLE = "A source set by hand"
REACH = "private"
REQUIRES = {"release": ">=2.13"}


def variable(context, name):
    local = context.get_local(name)
    return local._i_will_not_complain_if_bc_breaks_VariableTracker().realize()


def set_temporary(context):
    variable(context, "sizes").source = EphemeralSource("sizes")


def set_local(context):
    variable(context, "sizes").source = LocalSource("sizes")


def inputs():
    return [0], torch.randn(8)


def broken(sizes, x):
    comptime(set_temporary)
    sizes.append(len(x))
    return x.sin()


def fixed(sizes, x):
    """Use this when your compile-time code must set a source. Choose one that
    says where Python finds the value, such as `LocalSource`."""
    comptime(set_local)
    sizes.append(len(x))
    return x.sin()
