"""`error.__str__()` gives the `repr` of an exception in compiled code.

Eager gives the text of the exception, compiled code also its class and quotes. `str(error)`
is right in both.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    error = ValueError("too small")
    return x.sin(), error.__str__()


def run(function):
    return function(torch.ones(1, device=device))[1]


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
