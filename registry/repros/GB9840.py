"""The message of `torch._check` comes from a function defined outside. Dynamo
takes only a function that is defined in the code it traces."""
import torch

REACH = "private"


def message():
    return "got an empty tensor"


def inputs():
    return (torch.randn(8),)


def broken(x):
    torch._check(x.numel() > 0, message)
    return x.mean()


def fixed(x):
    """Use this when a function from outside makes the message. Put a `lambda`
    around the call: it is defined where it is used."""
    torch._check(x.numel() > 0, lambda: message())
    return x.mean()
