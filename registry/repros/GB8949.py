"""A function from a module that is not in `sys.modules` sets one of its
globals. Dynamo finds globals through `sys.modules`, and can't be sure to
set the right one."""
import sys
import types

import torch

REQUIRES = {"release": ">=2.14"}

SOURCE = """
calls = 0

def double(x):
    global calls
    calls += 1
    return x * 2
"""


def load(name):
    module = types.ModuleType(name)
    exec(SOURCE, module.__dict__)
    return module


plugin = load("plugin")
known = sys.modules["known"] = load("known")


def inputs():
    plugin.calls = known.calls = 0
    return (torch.randn(8),)


def broken(x):
    return plugin.double(x), plugin.calls


def fixed(x):
    """Use this when you load modules yourself, for example plugins. Put each
    one into `sys.modules` under its name, as `import` does."""
    return known.double(x), known.calls
