"""Inside DisableTorchFunctionSubclass() backend="eager" returns the subclass.

In eager an operation on a tensor subclass inside this context returns a plain tensor.
With torch.compile(backend="eager") it returns the subclass. Inductor gives the plain
tensor.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


class Image(torch.Tensor):
    pass


def program(x):
    with torch._C.DisableTorchFunctionSubclass():
        return x.sin()


def run(function):
    return type(function(torch.ones(1, device=device).as_subclass(Image)))


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
