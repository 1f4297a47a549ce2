"""A tensor is given where an operator wants a size: `torch.arange(n)`,
`torch.zeros(n)`, `x.repeat(n)`. You meet this in masks for padded batches."""
import torch

TITLE = "A tensor as a size"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def inputs():
    return torch.randn(3, 8), torch.randint(1, 8, (3,))


def broken(x, lengths):
    steps = torch.arange(lengths.max(), device=x.device)
    valid = steps < lengths.unsqueeze(1)
    return torch.where(valid, x[:, steps], 0).sum(1)


def fixed(x, lengths):
    """Use this when the tensor is padded to a size that is known. Use that
    size: the mask is then as wide as the tensor."""
    steps = torch.arange(x.shape[1], device=x.device)
    valid = steps < lengths.unsqueeze(1)
    return torch.where(valid, x, 0).sum(1)


def fixed_flag(x, lengths):
    """Use this when you need the exact size. Set `capture_scalar_outputs`. The
    size is then known only when the graph runs."""
    steps = torch.arange(lengths.max(), device=x.device)
    valid = steps < lengths.unsqueeze(1)
    return torch.where(valid, x[:, steps], 0).sum(1)
