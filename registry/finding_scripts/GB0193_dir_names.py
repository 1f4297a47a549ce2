"""`dir()` returns other names in compiled code.

In eager it returns the names of the function's local variables. In compiled code
it runs in the function that Dynamo made for the rest after the graph break, and
returns that function's names: one is missing, one is Dynamo's own.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    y = x.sin()
    return y, dir()


def run(function):
    return function(torch.ones(1, device=device))[1]


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
