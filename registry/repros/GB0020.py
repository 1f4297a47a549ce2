"""Two strings with a field of the same name are joined by an f-string. Dynamo
fills fields in after the graph has run, and the names collide. Python formats
each part first, which avoids that; the instruction was taken out by hand."""
import dis

import torch

REACH = "bytecode"
REQUIRES = {"python": "==3.11"}


def without_formatting(code):
    changed = bytearray(code.co_code)
    for i in range(0, len(changed), 2):
        if changed[i] == dis.opmap.get("FORMAT_VALUE"):
            changed[i : i + 2] = bytes([dis.opmap["NOP"], 0])
    return code.replace(co_code=bytes(changed))


def inputs():
    return (torch.randn(8),)


def broken(x):
    low = "low {value}".format(value=x.min())
    peak = "peak {value}".format(value=x.max())
    return x.sin(), f"{low}, {peak}"


broken.__code__ = without_formatting(broken.__code__)


def fixed(x):
    """Use this when you changed the bytecode yourself. Leave it as Python made
    it."""
    low = "low {value}".format(value=x.min())
    peak = "peak {value}".format(value=x.max())
    return x.sin(), f"{low}, {peak}"


def fixed_names(x):
    """Use this when you can't change the bytecode. Give the fields different
    names."""
    low = "low {low}".format(low=x.min())
    peak = "peak {peak}".format(peak=x.max())
    return x.sin(), f"{low}, {peak}"


fixed_names.__code__ = without_formatting(fixed_names.__code__)
