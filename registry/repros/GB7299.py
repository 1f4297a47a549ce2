"""`torch.func.vjp` ran outside, and the compiled function calls the function
it returned. That function holds results with their autograd history, which
Dynamo can't take into a graph; without it all gradients would be zero."""
import torch

REQUIRES = {"device": "cpu"}


def inputs():
    x = torch.randn(4, requires_grad=True)
    _, vjp = torch.func.vjp(torch.sin, x)
    return x, vjp, torch.randn(4)


def broken(x, vjp, cotangent):
    return vjp(cotangent)


def fixed(x, vjp, cotangent):
    """Use this when the compiled code also has the function and its input.
    Call `torch.func.vjp` there as well, so that you compile the whole
    transform."""
    _, vjp = torch.func.vjp(torch.sin, x)
    return vjp(cotangent)
