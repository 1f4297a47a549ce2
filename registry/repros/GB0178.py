"""`str` is called on a number that Python's `random` draws at run time. Dynamo
keeps that number in the graph, so while it traces there is nothing to write
as text."""
import random

import torch

SCALES = {"0": 2.0, "1": 3.0}


def inputs():
    random.seed(torch.randint(100, ()).item())
    return (torch.randn(8),)


def broken(x):
    return x * SCALES[str(random.randint(0, 1))]


def fixed(x):
    """Use this when the choices are few and cheap. Compute them all, and
    select by the drawn number."""
    one = torch.as_tensor(random.randint(0, 1)) == 1
    return torch.where(one, x * SCALES["1"], x * SCALES["0"])
