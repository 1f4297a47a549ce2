"""`id` asks for the identity of a tensor that the compiled code has computed.
While Dynamo traces, this tensor doesn't exist yet."""
import torch

REQUIRES = {"release": "<2.13"}


def inputs():
    return torch.randn(8), bool(torch.rand(()) > 0.5)


def broken(x, shared):
    key = x.sin()
    value = key if shared else x.cos()
    return key * 2 if id(key) == id(value) else key + value


def fixed(x, shared):
    """Use this when you only ask if two names mean the same tensor. `is` does
    that."""
    key = x.sin()
    value = key if shared else x.cos()
    return key * 2 if key is value else key + value
