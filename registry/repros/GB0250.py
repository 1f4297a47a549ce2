"""`astype(object)` makes an array of Python objects, here integers that never
overflow. No tensor can hold those."""
import numpy as np
import torch

REQUIRES = {"module": "numpy", "device": "cpu"}


def inputs():
    return (torch.randint(1000000, (8,), dtype=torch.int32),)


def broken(x):
    a = x.numpy().astype(object)
    return torch.from_numpy((a * a % 97).astype(np.int64))


def fixed(x):
    """Use this when you know how large the numbers get. Choose a type that
    holds them. The squares here fit into 40 bits."""
    a = x.numpy().astype(np.int64)
    return torch.from_numpy(a * a % 97)
