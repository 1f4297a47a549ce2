"""Two bound methods are compared, and the objects they belong to are tensors.
They are equal only if both belong to the same object. Dynamo doesn't know
which tensors are the same object."""
import torch

REQUIRES = {"release": ">=2.15"}


class Image(torch.Tensor):
    def brighten(self):
        return self * 2


def inputs():
    return torch.randn(8).as_subclass(Image), torch.randn(8).as_subclass(Image)


def broken(left, right):
    same = left.brighten == right.brighten
    return left.sin() if same else left + right


def fixed(left, right):
    """Use this when you ask whether both are the same tensor. Compare the
    tensors with `is`, not their methods."""
    same = left is right
    return left.sin() if same else left + right
