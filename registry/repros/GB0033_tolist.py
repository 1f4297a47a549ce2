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
    """Use this when you only add up each part. Mark the elements of each part,
    and sum what is marked."""
    ends = sizes.cumsum(0)[:, None]
    place = torch.arange(len(x), device=x.device)
    inside = (place >= ends - sizes[:, None]) & (place < ends)
    return torch.where(inside, x, 0).sum(1)


def fixed_flag(x, sizes):
    """Use this when you need the parts themselves. Set
    `capture_scalar_outputs`, and keep `.tolist()`."""
    parts = x.split(sizes.tolist())
    return torch.stack([part.sum() for part in parts])
