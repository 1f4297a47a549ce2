"""Setting `__defaults__` of a nested function has no effect in compiled code.

In eager the next call uses the new default. Compiled code still uses the old one.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    def scaled(x, scale=2.0):
        return x * scale

    scaled.__defaults__ = (3.0,)
    return scaled(x)


def run(function):
    return function(torch.ones(1, device=device))


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
