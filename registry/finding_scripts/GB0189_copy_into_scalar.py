"""`copy_` into a float64 tensor without dimensions cuts the gradient under Inductor and aot_eager.

In eager, and with the backend "eager", the gradient flows. So it does with float32, and with shape (1,).
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def program(x, total):
    total.copy_(x.sum())
    return total * 2


def run(function):
    x = torch.ones(3, dtype=torch.float64, device=device, requires_grad=True)
    result = function(x * 1, torch.zeros((), dtype=torch.float64, device=device))
    return result.requires_grad


eager = run(program)
compiled = run(torch.compile(program, fullgraph=True))
print("the result requires grad in eager:   ", eager)
print("the result requires grad in compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
