"""`torch.from_numpy` is called, but Dynamo found no NumPy when it was loaded.
Without NumPy the call fails in eager mode too, so this program has NumPy and
hides it from Dynamo."""
import numpy
import torch
import torch._dynamo.variables.torch

REACH = "bytecode"
REQUIRES = {"module": "numpy", "device": "cpu"}

torch._dynamo.variables.torch.np = None
window = numpy.hanning(8)
window_tensor = torch.tensor(window.tolist(), dtype=torch.float64)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * torch.from_numpy(window)


def fixed(x):
    """Use this when you can't install NumPy. Make the tensor from a list,
    outside. If you can install NumPy, do that instead."""
    return x * window_tensor
