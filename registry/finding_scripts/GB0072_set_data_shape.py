"""`x.data = x.unsqueeze(0)` does not change the shape of an input in compiled code.

In eager the input has the new shape after the call. In code compiled with aot_eager or
Inductor it keeps its old shape.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x):
    x.data = x.unsqueeze(0)
    return x.sin()


def run(function):
    x = torch.ones(8, device=device)
    function(x)
    return x.shape


eager = run(program)
compiled = run(torch.compile(program, backend="aot_eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
