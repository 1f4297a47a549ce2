"""`isinstance(fake, FakeTensor)` is False in compiled code.

In eager it is True, for a tensor that was made in a FakeTensorMode.
"""
import torch
from torch._subclasses import FakeTensor, FakeTensorMode

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x, fake):
    return x * (1.0 if isinstance(fake, FakeTensor) else 2.0)


def run(function):
    with FakeTensorMode():
        fake = torch.ones(1)
    return function(torch.ones(1, device=device), fake)


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
