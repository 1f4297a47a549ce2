"""An f-string joins text and a number that is not text yet. Python formats
each part first; that instruction was taken out by hand. Without it, Python
raises TypeError."""
import dis

import torch

TITLE = "Edited bytecode"
REACH = "bytecode"
REQUIRES = {"python": "==3.11"}
COMPILE = {"dynamic": True}
EAGER_RAISES = "TypeError"


def without_formatting(code):
    changed = bytearray(code.co_code)
    for i in range(0, len(changed), 2):
        if changed[i] == dis.opmap.get("FORMAT_VALUE"):
            changed[i : i + 2] = bytes([dis.opmap["NOP"], 0])
    return code.replace(co_code=bytes(changed))


def inputs():
    return torch.randn(8), torch.rand(()).item()


def broken(x, rate):
    return x.sin(), f"rate {rate}"


broken.__code__ = without_formatting(broken.__code__)


def fixed(x, rate):
    """Use this when you changed the bytecode yourself. Leave it as Python made
    it, and format the number with `str.format`: all releases trace that."""
    return x.sin(), "rate {}".format(rate)
