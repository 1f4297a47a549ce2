"""`x.data_ptr() % 16` raises TypeError in compiled code.

In eager the address is an int, and the `except` below is never reached. Compiled code
goes there and returns its result.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    try:
        return x + x.data_ptr() % 16
    except TypeError:
        return x - 1


def run(function):
    return function(torch.ones(1, device=device))


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
