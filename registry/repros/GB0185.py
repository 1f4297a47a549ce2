"""A numpy array of strings is used in the compiled function. Dynamo turns
numpy arrays into tensors, and there are no tensors of strings."""
import numpy as np
import torch

REQUIRES = {"module": "numpy", "device": "cpu"}

LABELS = np.array(["cat", "dog", "cat"])
IS_CAT = torch.from_numpy(LABELS == "cat")


def inputs():
    return (torch.randn(3),)


def broken(x):
    return x * torch.from_numpy(LABELS == "cat")


def fixed(x):
    """Use this when the strings don't change. Do the work on them once,
    outside, and use the resulting numbers inside."""
    return x * IS_CAT
