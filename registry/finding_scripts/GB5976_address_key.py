"""A tensor's address is not found in a dictionary in compiled code.

In eager `x.data_ptr()` is an int, and the dictionary has it. Compiled code uses a
placeholder for the address, which is equal to no key.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x, scales):
    return x * scales.get(x.data_ptr(), 1.0)


def run(function):
    x = torch.ones(1, device=device)
    return function(x, {x.data_ptr(): 2.0})


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
