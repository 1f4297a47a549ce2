"""`.tolist()` on integers makes Python numbers, often the sizes for
`torch.split`. You meet this with samples that are packed into one tensor."""
import torch

TITLE = "sizes.tolist()"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def inputs():
    first = torch.randint(1, 8, ())
    return torch.randn(8), torch.stack([first, 8 - first])


def broken(x, sizes):
    parts = x.split(sizes.tolist())
    return torch.stack([part.sum() for part in parts])


def fixed(x, sizes):
    """Use this when you only add up each part. Number the elements by part,
    and sum them with `index_add`."""
    place = torch.arange(len(x), device=x.device)
    part = torch.bucketize(place, sizes.cumsum(0), right=True)
    return torch.zeros_like(x[:2]).index_add(0, part, x)


def fixed_flag(x, sizes):
    """Use this when you need the parts themselves. Set
    `capture_scalar_outputs`, and keep `.tolist()`."""
    parts = x.split(sizes.tolist())
    return torch.stack([part.sum() for part in parts])
