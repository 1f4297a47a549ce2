"""`backward(inputs=[p])` sets no gradient on a parameter made in compiled code.

In eager `p.grad` is a tensor after it. In compiled code with
`graph_break_on_nn_param_ctor = False` it is None, and no error is raised.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
torch._dynamo.config.graph_break_on_nn_param_ctor = False


def program(x):
    p = torch.nn.Parameter(torch.ones(1, device=device))
    (p * x).backward(inputs=[p])
    return p.grad


def run(function):
    return function(torch.ones(1, device=device))


eager = run(program)
compiled = run(torch.compile(program, backend="eager"))
print("eager:   ", eager)
print("compiled:", compiled)
assert eager == compiled, "compiled code gives another result"
