"""A weight's `.data` is replaced by data of another dtype. Dynamo traces
such an assignment only if the dtype stays the same."""
import torch

GRADIENT = {
    "fixed": "A gradient reaches `weight` if it is a leaf. In eager none does:"
    " while `.data` is replaced, autograd knows another tensor."
}


def inputs():
    return (torch.randn(8),)


def broken(weight):
    full = weight.data
    weight.data = full.bfloat16()
    y = weight * 2
    weight.data = full
    return y


def fixed(weight):
    """Use this when you need the other dtype only for a computation. Make a
    converted tensor. The gradient of `weight` then has the dtype of `weight`;
    in your program it is `bfloat16` if `weight` is a parameter."""
    return weight.bfloat16() * 2
