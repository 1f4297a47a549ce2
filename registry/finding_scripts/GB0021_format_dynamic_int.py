"""A dynamic int in an f-string is formatted as a string in compiled code.

With a width, eager aligns the number to the right, as Python does with every int.
Code compiled with dynamic=True aligns it to the left, as Python does with strings.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    return x.sin(), f"{x.size(0):3}"


def run(function):
    return function(torch.ones(8, device=device))[1]


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True, dynamic=True))
print("eager:   ", repr(eager))
print("compiled:", repr(compiled))
assert eager == compiled, "compiled code gives another result"
