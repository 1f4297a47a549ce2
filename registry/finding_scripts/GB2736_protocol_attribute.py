"""`isinstance` with a Protocol misses an attribute that compiled code has just set.

In eager the object matches the Protocol as soon as it has the attribute. In compiled
code `isinstance` is False.
"""
from typing import Protocol, runtime_checkable

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


@runtime_checkable
class HasScale(Protocol):
    scale: float


class Settings:
    pass


def program(x, settings):
    settings.scale = 2.0
    return x * (1.0 if isinstance(settings, HasScale) else 2.0)


def run(function):
    return function(torch.ones(1, device=device), Settings())


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
