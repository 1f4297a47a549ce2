"""TF32 is set in the new way, and then something asks for it in the old way."""

import torch


def message():
    torch.backends.cuda.matmul.fp32_precision = "tf32"  # the new way
    return torch.backends.cuda.matmul.allow_tf32  # the old way


def fixed():
    """Use this when you can change all of the code: set and read TF32 in the new
    way only."""
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    return torch.backends.cuda.matmul.fp32_precision == "tf32"


def fixed_old():
    """Use this when a library or the compiler still reads the old setting: set
    TF32 in the old way only."""
    torch.set_float32_matmul_precision("high")
    return torch.backends.cuda.matmul.allow_tf32


def eager():
    return True
