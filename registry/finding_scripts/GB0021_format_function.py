"""`format(obj)` raises an internal error in compiled code.

In eager it returns the text of the object.
"""
import torch
from torch._dynamo.exc import InternalTorchDynamoError

device = "cuda" if torch.cuda.is_available() else "cpu"


class Training:
    def __str__(self):
        return "step 3"


def program(x, training):
    return x.sin(), format(training)


def run(function):
    try:
        return function(torch.ones(1, device=device), Training())[1]
    except InternalTorchDynamoError as error:
        return str(error).splitlines()[0]


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
