"""The GPU can multiply float32 matrices faster in TF32, which keeps fewer digits.
TF32 is off by default, and Inductor says so once."""

import warnings

import torch

REQUIRES = {"device": "cuda"}


def inputs():
    left = torch.arange(64 * 64, device="cuda").remainder(5).float()
    return left.reshape(64, 64), left.reshape(64, 64).T.contiguous()


def product(left, right):
    return left @ right


def message():
    torch.set_float32_matmul_precision("highest")
    return torch.compile(product)(*inputs())


def fixed():
    """Use this when you can do with fewer digits: allow TF32, before the first
    compilation."""
    torch.set_float32_matmul_precision("high")
    return torch.compile(product)(*inputs())


def fixed_hide():
    """Use this when you need all digits of float32: keep the setting and hide
    the warning."""
    torch.set_float32_matmul_precision("highest")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="TensorFloat32 tensor cores")
        return torch.compile(product)(*inputs())


def eager():
    return product(*inputs())
