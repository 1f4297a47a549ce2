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
    """The class is not yours: call the method yourself."""
    return x.as_subclass(Image).__reversed__()


def fixed_flip(x):
    """Nothing else depends on `reversed`: call what it stands for."""
    return x.as_subclass(Image).flip(-1)
