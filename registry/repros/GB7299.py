"""`torch.func.vjp` ran outside, and the compiled function calls the function
it returned. That function holds results with their autograd history, which
Dynamo can't take into a graph; without it all gradients would be zero."""
import torch

REQUIRES = {"device": "cpu"}

POINT = torch.randn(4, requires_grad=True)
_, VJP = torch.func.vjp(torch.sin, POINT)


def inputs():
    return (torch.randn(4),)


def broken(cotangent):
    return VJP(cotangent)


def fixed(cotangent):
    """Use this when the compiled code also has the function and its input.
    Call `torch.func.vjp` there as well, so that you compile the whole
    transform."""
    _, vjp = torch.func.vjp(torch.sin, POINT)
    return vjp(cotangent)
