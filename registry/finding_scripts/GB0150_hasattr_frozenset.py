"""Compiled `hasattr(frozenset(), "add")` is True.

A frozenset has no method that changes it, so eager gives False for "add". Compiled code
asks as if it were a set, and takes the other branch.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    return x + 1 if hasattr(frozenset(), "add") else x


def run(function):
    return function(torch.zeros(1, device=device)).item()


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
