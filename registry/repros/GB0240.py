"""The tensors given as `out=` have a different shape from the results, so
`sort` would have to resize them. Dynamo doesn't trace an `out=` that changes
shape."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    out = x.new_empty(0), x.new_empty(0, dtype=torch.long)
    torch.sort(x, out=out)
    return out


def fixed(x):
    """Use this when you need `out=`. Allocate the tensors with the right
    shape."""
    out = torch.empty_like(x), torch.empty_like(x, dtype=torch.long)
    torch.sort(x, out=out)
    return out


def fixed_return(x):
    """Use this when no other code holds the tensors in `out`. Take what `sort`
    returns."""
    values, indices = torch.sort(x)
    return values, indices
