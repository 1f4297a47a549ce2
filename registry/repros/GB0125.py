"""The program freezes a weight for one computation and then unfreezes it. A
graph computes with tensors; it can't change whether an input of the compiled
function requires a gradient."""
import torch


def inputs():
    return torch.randn(8), torch.randn(8, requires_grad=True)


def broken(x, weight):
    weight.requires_grad_(False)
    y = (x * weight).sin()
    weight.requires_grad_(True)
    return y


def fixed(x, weight):
    """Use this when the weight must be frozen for one computation only. Detach
    it there; the weight itself stays as it is. To freeze it for good, do so
    outside the compiled function."""
    return (x * weight.detach()).sin()
