"""The instruction behind `except` compares an error class, and expects an
error that was raised. Python uses it only after a `raise`; it was put here by
hand, in place of `is`."""
import dis

import torch

REACH = "bytecode"
REQUIRES = {"python": "==3.11"}


def inputs():
    return torch.randn(8), (ValueError, KeyError)[torch.randint(2, ())]


def broken(x, error):
    if error is ValueError:
        return x.sin()
    return x.cos()


code = bytearray(broken.__code__.co_code)
code[code.index(dis.opmap["IS_OP"])] = dis.opmap["CHECK_EXC_MATCH"]
broken.__code__ = broken.__code__.replace(co_code=bytes(code), co_stacksize=9)


def fixed(x, error):
    """Use this when you compare error classes. Call `issubclass`: it makes the
    same check as the instruction."""
    if issubclass(error, ValueError):
        return x.sin()
    return x.cos()
