"""A function whose result is declared constant gets a tensor changed in place
under `no_grad`. To call it, Dynamo repeats that change, now without `no_grad`,
and that fails."""
import torch


@torch.compiler.assume_constant_result
def count(t):
    return t.numel()


def inputs():
    return torch.randn(4, requires_grad=True), torch.randn(4)


def broken(weight, x):
    with torch.no_grad():
        doubled = weight.mul_(2)
    return x * count(doubled)


def fixed(weight, x):
    """Use this when the tensor already exists when the compiled function
    starts. Pass that tensor to the marked function. Dynamo then has nothing to
    repeat."""
    with torch.no_grad():
        weight.mul_(2)
    return x * count(weight)
