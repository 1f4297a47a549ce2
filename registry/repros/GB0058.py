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
    """Use this when the tensor must be changed in place. `z.real` is a view,
    so copy into it."""
    z = z.clone()
    z.real.copy_(real)
    return z.abs()


def fixed_new(z, real):
    """Use this when a new tensor is enough. Build it from its two parts."""
    return torch.complex(real.to(z.imag.dtype), z.imag).abs()
