"""A tensor made inside the function is told to collect gradients, and
something computed from it is returned. Compiled code would lose the link
between the two, and with it the gradient."""
import torch

EFFECTS = {"fixed": "All calls return the same tensor, and its `.grad` adds up."}

SHIFT = torch.zeros(4, requires_grad=True)


def inputs():
    return (torch.randn(4),)


def broken(x):
    shift = torch.zeros(4, device=x.device).requires_grad_()
    return (x + shift).sin().sum(), shift


def fixed(x):
    """Use this when callers need the gradient of that tensor. Make the tensor
    once, outside, and clear its `.grad` between calls. If callers need only
    the values, detach the results instead."""
    return (x + SHIFT).sin().sum(), SHIFT
