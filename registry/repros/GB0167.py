"""A call with `**` gets a mapping that is not a dict. Python copies it into a
dict before the call; that copy was taken out by hand here."""
import dis
import types

import torch

REACH = "bytecode"
REQUIRES = {"python": "==3.11"}
OPTIONS = types.MappingProxyType({"alpha": 2})


def inputs():
    return torch.randn(8), torch.randn(8)


def broken(*args):
    return torch.add(*args, **OPTIONS)


code = bytearray(broken.__code__.co_code)
for i in range(0, len(code), 2):
    if code[i] in (dis.opmap["BUILD_MAP"], dis.opmap["DICT_MERGE"]):
        code[i : i + 2] = bytes([dis.opmap["NOP"], 0])
broken.__code__ = broken.__code__.replace(co_code=bytes(code))


def fixed(*args):
    """Use this when you don't need to edit the bytecode. Leave it as Python
    made it: the copy is a dict."""
    return torch.add(*args, **OPTIONS)
