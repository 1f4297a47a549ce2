"""`obj.__dict__["scale"]` gives the property `scale` in compiled code.

In eager it gives what is stored in the dictionary of the object, also if its class has
a property of the same name.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


class Settings:
    def __init__(self):
        self.__dict__["scale"] = 2.0

    @property
    def scale(self):
        return 5.0


def program(x, settings):
    return x * settings.__dict__["scale"]


def run(function):
    return function(torch.ones(1, device=device), Settings())


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
