"""A dynamic int with a format code raises an internal error in compiled code.

In eager `f"{n:03d}"` works. Code compiled with dynamic=True fails: Dynamo formats the
number as a string, and strings have no format code "d".
"""
import torch
from torch._dynamo.exc import InternalTorchDynamoError

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    return x.sin(), f"{x.size(0):03d}"


def run(function):
    try:
        return function(torch.ones(8, device=device))[1]
    except InternalTorchDynamoError as error:
        return str(error).splitlines()[0]


eager = run(program)
compiled = run(torch.compile(program, backend="eager", dynamic=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
