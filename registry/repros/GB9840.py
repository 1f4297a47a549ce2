"""The message of `torch._check` comes from a method of an object. Dynamo takes
a function (up to torch 2.13, only one defined in the code it traces), but
never a method."""
import torch

REACH = "private"


class Layer:
    name = "mean"

    def message(self):
        return f"{self.name} got an empty tensor"


layer = Layer()


def inputs():
    return (torch.randn(8),)


def broken(x):
    torch._check(x.numel() > 0, layer.message)
    return x.mean()


def fixed(x):
    """Use this when a method makes the message. Put a `lambda` around the
    call: it is defined where it is used."""
    torch._check(x.numel() > 0, lambda: layer.message())
    return x.mean()
