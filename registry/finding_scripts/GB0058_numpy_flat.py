"""`a.flat = 0` does not change a NumPy array in compiled code.

In eager it sets all items of the array to 0. Compiled code ignores the assignment.
"""
import numpy as np
import torch


def program(a):
    a.flat = 0
    return a + 1


def run(function):
    return function(np.ones(2))


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert np.array_equal(eager, compiled), "compiled code gives another result"
