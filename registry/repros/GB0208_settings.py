"""A function returns a setting or a fact about the machine: the number of
threads or devices, the precision of matmul, whether a library is there."""
import torch

TITLE = "A setting of torch"

EXACT = torch.get_float32_matmul_precision() == "highest"


def inputs():
    return (torch.randn(4, 4),)


def broken(x):
    exact = torch.get_float32_matmul_precision() == "highest"
    return x @ x if exact else (x.double() @ x.double()).float()


def fixed(x):
    """Use this when the answer stays the same while the program runs. Ask
    once, outside, and keep the answer."""
    return x @ x if EXACT else (x.double() @ x.double()).float()
