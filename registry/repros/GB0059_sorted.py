"""`sorted` is called with a tensor. It compares the elements in Python, one
pair after the other, and the order depends on their values."""
import torch

TITLE = "sorted() of a tensor"
LIMITS = {
    "fixed": {"nan": "Python's order depends on where the NaN stands. `torch.sort` puts it last."},
    "fixed_topk": {
        "nan": "Python's order depends on where the NaN stands. `torch.topk` counts it as the largest.",
        "zero": "Of equal elements, `torch.topk` may take others than `sorted`. Only gradients show that.",
    },
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    lowest = sorted(x)[:3]
    return torch.stack(lowest)


def fixed(x):
    """Use this when you need all elements in order. `torch.sort` does the same
    inside the graph. With `stable`, equal elements keep their order, as in
    Python."""
    return torch.sort(x, stable=True).values[:3]


def fixed_topk(x):
    """Use this when you need only a few of the elements. `torch.topk` doesn't
    sort the others."""
    return torch.topk(x, min(3, len(x)), largest=False).values
