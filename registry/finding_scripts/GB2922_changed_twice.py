"""A change in place before an `assume_constant_result` call is made twice.

In eager the tensor is doubled once. In compiled code the first call doubles it
twice: once on the real input while Dynamo traces, once in the graph.
"""
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


@torch.compiler.assume_constant_result
def count(tensor):
    return tensor.numel()


def program(x):
    doubled = x.mul_(2)
    return doubled * count(doubled)


def run(function):
    return function(torch.ones(1, device=device))


eager = run(program)
compiled = run(torch.compile(program, backend="eager", fullgraph=True))
print("eager:   ", eager)
print("compiled:", compiled)
assert torch.equal(eager, compiled), "compiled code gives another result"
