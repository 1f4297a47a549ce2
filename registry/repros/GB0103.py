"""A tensor subclass has a method of its own in place of one of torch's, and a
builtin calls it, here `reversed`. Dynamo doesn't trace such a call."""
import torch


class Image(torch.Tensor):
    def __reversed__(self):
        return self.flip(-1)


def inputs():
    return (torch.randn(4, 4),)


def broken(x):
    return reversed(x.as_subclass(Image))


def fixed(x):
    """Use this when the class is not yours. Call its method yourself."""
    return x.as_subclass(Image).__reversed__()


def fixed_flip(x):
    """Use this when nothing else depends on `reversed`. Call what it stands
    for, here `flip`."""
    return x.as_subclass(Image).flip(-1)
