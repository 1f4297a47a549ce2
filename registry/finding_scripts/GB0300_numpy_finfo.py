"""`np.finfo` of a NumPy scalar raises ValueError in compiled code.

In eager it works. In compiled code there is a graph break at the call, and after it
`np.finfo` gets a 0-dimensional array in place of the scalar.
"""
import numpy as np
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    return x * np.finfo(np.float32(1)).bits


def run(function):
    try:
        return function(torch.ones(1, device=device)).item()
    except ValueError as error:
        return type(error).__name__


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
