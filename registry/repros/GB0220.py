"""A weight's `.data` is replaced by data of another dtype. Dynamo traces
such an assignment only if the dtype stays the same."""
import torch


def inputs():
    return torch.randn(8, dtype=torch.bfloat16), torch.randn(8)


def broken(x, weight):
    full = weight.data
    weight.data = full.bfloat16()
    y = x * weight
    weight.data = full
    return y


def fixed(x, weight):
    """You need the other dtype for a computation: make a converted tensor."""
    return x * weight.bfloat16()
