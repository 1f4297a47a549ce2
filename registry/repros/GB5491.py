"""`.data` of a tensor is set to a tensor on another device that also has
another shape. Dynamo changes the device of `.data` only if shape and strides
stay the same. From the CPU to `meta`, as here, Python refuses it, too."""
import torch

EAGER_RAISES = "RuntimeError"
COVERAGE = "the last line comes after the exception"
REQUIRES = {"release": ">=2.14"}


def inputs():
    return torch.randn(8), torch.randn(8)


def broken(x, cache):
    y = x + cache
    cache.data = torch.empty(0, device="meta")
    return y


def fixed(x, cache):
    """Use this when you want to free the memory of a tensor. Leave it on its
    device, and make it empty."""
    y = x + cache
    cache.data = torch.empty(0, device=cache.device)
    return y
