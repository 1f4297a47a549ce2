"""A length in a tensor becomes the end of a slice. You meet this with padded
batches, where each sample has a length of its own."""
import torch

TITLE = "A slice up to n.item()"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}
LIMITS = {
    "fixed": {
        "negative": "In Python a length below zero counts from the end. Here it "
        "selects nothing."
    },
    "fixed_flag": {
        "negative": "In Python a length below zero counts from the end. Here it "
        "is an error.",
        "size": "A length beyond the end takes all. Here it is an error.",
    },
}


def inputs():
    return torch.randn(8), torch.randint(1, 8, ())


def broken(x, length):
    return x[: length.item()].exp().sum()


def fixed(x, length):
    """Use this when you reduce the slice anyway. Keep the full size, and mask
    the rest. Mask before `exp`, too: if it overflows in what you don't use,
    the gradient is NaN."""
    valid = torch.arange(len(x), device=x.device) < length
    x = torch.where(valid, x, 0)
    return torch.where(valid, x.exp(), 0).sum()


def fixed_flag(x, length):
    """Use this when you need the slice itself. Set `capture_scalar_outputs`.
    The size of the slice is then known only when the graph runs.
    `torch._check` tells the compiler the range of the number."""
    end = length.item()
    torch._check(end >= 0)
    torch._check(end <= len(x))
    return x[:end].exp().sum()
