"""The real part of a complex tensor is assigned as an attribute. Setting
`real` runs special code in torch's C++, and Dynamo doesn't trace it."""
import torch


def inputs():
    return torch.randn(4, dtype=torch.complex64), torch.randn(4)


def broken(z, real):
    z = z.clone()
    z.real = real
    return z.abs()


def fixed(z, real):
    """The tensor must be changed in place: `z.real` is a view, copy into it."""
    z = z.clone()
    z.real.copy_(real)
    return z.abs()


def fixed_new(z, real):
    """A new tensor will do: build it from its two parts."""
    return torch.complex(real, z.imag).abs()
