"""`a * 2` is NotImplemented for an array.array in compiled code.

In eager it is a longer array.
"""
from array import array

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x, sizes):
    return x.sin(), sizes * 2


def run(function):
    return function(torch.ones(1, device=device), array("i", [1, 2]))[1]


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
