"""`x.numpy()` is called where NumPy is not installed. This file hides NumPy
from Dynamo, so that you can see the break where it is installed."""
import torch
import torch._dynamo.variables.tensor

REACH = "private"
REQUIRES = {"module": "numpy", "device": "cpu"}
torch._dynamo.variables.tensor.np = None


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch.from_numpy(x.numpy() * 2)


def fixed(x):
    """Use this when NumPy must stay optional. Write the code with tensors."""
    return x * 2
