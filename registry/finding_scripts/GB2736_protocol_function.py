"""A function with an attribute does not match a Protocol in compiled code.

In eager `isinstance` looks at the function, which has the attribute, and is True. In
compiled code it looks only at the type of the function, and is False.
"""
from typing import Protocol, runtime_checkable

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


@runtime_checkable
class HasScale(Protocol):
    scale: float


def double(x):
    return x * 2


double.scale = 2.0


def program(x):
    return x * (1.0 if isinstance(double, HasScale) else 2.0)


def run(function):
    return function(torch.ones(1, device=device))


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
