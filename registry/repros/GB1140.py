"""The function below `torch.func.grad` is called directly, with its tensors as
the `.values()` of a dict. Dynamo knows only a tensor, a list, and a tuple."""
import torch
from torch._functorch.eager_transforms import _autograd_grad

REACH = "private"
LIMITS = {
    "fixed_public": {
        "dtype": "`torch.func.grad` differentiates only real floating-point "
        "numbers. Others are an error."
    }
}


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    tensors = {"x": x}
    return _autograd_grad((x.sin().sum(),), tensors.values())


def fixed(x):
    """Use this when you need this private function. Make a list of the
    values."""
    tensors = {"x": x}
    return _autograd_grad((x.sin().sum(),), list(tensors.values()))


def fixed_public(x):
    """Use this when you don't need the private function. Call
    `torch.func.grad`, the public way."""
    return (torch.func.grad(lambda x: x.sin().sum())(x),)
