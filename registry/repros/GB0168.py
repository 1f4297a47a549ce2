"""The instruction behind `f(*args, **kwargs)` has a number that says whether
there are keywords: 0 or 1. It was set to 3 by hand; Python looks at one bit
of it, Dynamo at the whole number."""
import dis

import torch

REACH = "bytecode"
REQUIRES = {"python": "==3.11"}


def inputs():
    return torch.randn(8), torch.randn(8)


def broken(*args):
    return torch.add(*args, alpha=2)


code = bytearray(broken.__code__.co_code)
code[code.index(dis.opmap["CALL_FUNCTION_EX"]) + 1] = 3
broken.__code__ = broken.__code__.replace(co_code=bytes(code))


def fixed(*args):
    """Use this when you don't need to edit the bytecode. Leave it as Python
    made it."""
    return torch.add(*args, alpha=2)
