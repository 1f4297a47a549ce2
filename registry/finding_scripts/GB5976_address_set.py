"""The same address is in a set twice in compiled code.

In eager two tensors that share memory have one address, so the set has one item. In
compiled code it has two.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x, y):
    return x * len({x.data_ptr(), y.data_ptr()})


def run(function):
    x = torch.ones(1, device=device)
    return function(x, x)


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
