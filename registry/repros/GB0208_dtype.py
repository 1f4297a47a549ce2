"""`torch.result_type` returns the dtype that an operation would have. You meet
this in code that works with several dtypes."""
import torch

TITLE = "torch.result_type"


def inputs():
    return torch.randn(4), torch.randint(0, 9, (4,))


def broken(x, y):
    dtype = torch.result_type(x, y)
    return x + y.to(dtype).sqrt()


def fixed(x, y):
    """Use this when both are tensors with dimensions. `torch.promote_types`
    needs only their dtypes, and Dynamo can compute it."""
    dtype = torch.promote_types(x.dtype, y.dtype)
    return x + y.to(dtype).sqrt()
