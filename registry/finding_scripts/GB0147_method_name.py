"""A function bound with `__get__` comes out of compiled code as another method.

In eager the result is `double`, bound to the object. Compiled code returns the method
that has the same name in the object's class. If there is none, it raises AttributeError.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


class Layer:
    def double(self, x):
        return x * 3


def double(self, x):
    return x * 2


def program(x, layer):
    return x.sin(), double.__get__(layer)


def run(function):
    x = torch.ones(1, device=device)
    method = function(x, Layer())[1]
    return method(x)


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
