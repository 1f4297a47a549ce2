"""Inductor writes no kernels for complex numbers. It calls PyTorch's own kernel
for that operator and warns once."""

import warnings

import torch


def inputs():
    angle = torch.arange(4.0)
    return torch.complex(angle + 1, angle), torch.complex(angle - 1, 2 * angle)


def rotate(x, y):
    return x * y


def rotate_parts(x_real, x_imag, y_real, y_imag):
    return x_real * y_real - x_imag * y_imag, x_real * y_imag + x_imag * y_real


def message():
    return torch.compile(rotate)(*inputs())


def fixed():
    """Use this when the part is slow and you want it compiled: work with the
    real and the imaginary part as two real tensors."""
    x, y = inputs()
    return torch.complex(*torch.compile(rotate_parts)(x.real, x.imag, y.real, y.imag))


def fixed_hide():
    """Use this when the model is fast enough: the result is right, so hide the
    warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Torchinductor does not support")
        return torch.compile(rotate)(*inputs())


def eager():
    return rotate(*inputs())
