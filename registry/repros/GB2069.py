"""The graph breaks inside a list comprehension whose result is assigned
together with another value (`n, ys = ..., [...]`). From Python 3.12 on, Dynamo
then can't tell which of the variables gets the list."""
import torch

REQUIRES = {"python": ">=3.12", "release": ">=2.14"}


@torch.compiler.disable
def clean(row):
    return row.nan_to_num()


def clean_traced(row):
    return row.nan_to_num()


def inputs():
    return (torch.randn(3, 4),)


def broken(rows):
    n, cleaned = len(rows), [clean(row) for row in rows]
    return torch.stack(cleaned).sum() / n


def fixed(rows):
    """Use this when you can remove the break inside the comprehension. Without
    it, Dynamo doesn't need to know where the list goes."""
    n, cleaned = len(rows), [clean_traced(row) for row in rows]
    return torch.stack(cleaned).sum() / n
