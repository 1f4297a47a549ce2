"""`next([1, 2])` gives 1 in compiled code.

In eager it raises TypeError, as a list is not an iterator.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    return x * next([1, 2])


def run(function):
    try:
        return function(torch.ones(1, device=device)).item()
    except TypeError as error:
        return type(error).__name__


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
