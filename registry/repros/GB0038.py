"""A tensor is the bound of a slice. Python needs its value to cut the slice,
and while Dynamo traces there are no values yet."""
import torch

LIMITS = {
    "fixed": {
        "negative": "In Python a length below zero counts from the end. Here it "
        "selects nothing."
    }
}
REQUIRES = {"release": "<2.10"}


def inputs():
    return torch.randn(8), torch.randint(1, 8, ())


def broken(x, length):
    return x[:length].sum()


def fixed(x, length):
    """Use this when you sum up the slice. Keep the full size, and set the rest
    to zero."""
    inside = torch.arange(len(x), device=x.device) < length
    return torch.where(inside, x, 0).sum()
