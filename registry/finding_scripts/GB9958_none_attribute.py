"""`Clip.scale is None` is False in compiled code, though it is None.

`Clip` is an autograd.Function, and `scale` an attribute of the class. In eager the
comparison is True. Compiled code takes the other branch.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


class Clip(torch.autograd.Function):
    scale = None


def program(x):
    return x * (1.0 if Clip.scale is None else 2.0)


def run(function):
    return function(torch.ones(1, device=device))


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
