"""An f-string shows a new dataclass object with its default in compiled code.

Eager shows the value that the object was made with. Compiled code shows the default.
"""
from dataclasses import dataclass

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass
class Training:
    step: int = 0


def program(x):
    return x.sin(), f"{Training(3)}"


def run(function):
    return function(torch.ones(1, device=device))[1]


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
