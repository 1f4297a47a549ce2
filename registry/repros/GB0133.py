"""`itertools.accumulate` got a `map` or a generator. Dynamo wants something
here that it can unpack without running your code, such as a list."""
import itertools

import torch

LIMITS = {
    "fixed_tensor": {
        "dtype": "In float16 the sums are rounded at other places. `cumsum` is "
        "more exact."
    }
}
REQUIRES = {"release": "<2.9"}


def inputs():
    return (torch.randn(3, 8),)


def broken(rows):
    return list(itertools.accumulate(map(torch.sin, rows)))


def fixed(rows):
    """Use this when there are few items. Put them into a list first."""
    return list(itertools.accumulate([torch.sin(row) for row in rows]))


def fixed_tensor(rows):
    """Use this when the items are rows of a tensor. Let torch do the sum."""
    return list(torch.cumsum(torch.sin(rows), 0))
