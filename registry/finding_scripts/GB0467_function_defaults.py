"""`g.__defaults__ = ...` has no effect on a call of `g` in the same compiled function.

In eager the next call uses the new default. Compiled code still uses the old one. After
the compiled function has returned, `g` has the new default.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def scaled(x, scale=2.0):
    return x * scale


def program(x):
    scaled.__defaults__ = (3.0,)
    return scaled(x)


def run(function):
    scaled.__defaults__ = (2.0,)
    return function(torch.ones(1, device=device))


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
