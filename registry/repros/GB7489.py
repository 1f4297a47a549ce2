"""A function is passed to a tensor method. A graph can hold tensors, numbers
and a few other values as arguments, but not a function like this one."""
import math

import torch

REQUIRES = {"device": "cpu"}
LIMITS = {
    "fixed": {
        "dtype": "`apply_` cuts the results down to integers if `x` has integers. "
        "Here that is an error."
    }
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.apply_(math.sin)


def fixed(x):
    """Use this when a tensor operation does the same as the function. Call
    that. It works on all elements at once instead of calling Python for
    each."""
    return x.sin_()
