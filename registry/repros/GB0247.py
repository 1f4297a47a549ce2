"""The tensor given as `out=` has a different shape from the result, so torch
would have to resize it. Dynamo doesn't trace an `out=` that changes shape."""
import torch

LIMITS = {
    "fixed_return": {
        "dtype": "If the tensors have different dtypes, the result gets that of "
        "the operation. With `out=`, it has that of the buffer."
    }
}


def inputs():
    return torch.randn(4), torch.randn(4)


def broken(x, y):
    out = x.new_empty(0)
    torch.mul(x, y, out=out)
    return out


def fixed(x, y):
    """Use this when you need `out=`. Allocate it with the right shape."""
    out = torch.empty_like(x)
    torch.mul(x, y, out=out)
    return out


def fixed_return(x, y):
    """Use this when the buffer was there only to save memory. Use the result
    that the operation returns. Backends such as Inductor plan memory
    themselves."""
    return x * y
