"""The program calls a function of torch that isn't meant for a graph, such as
`torch.save`, `torch.load` or `torch.manual_seed`. Dynamo skips those files."""
import tempfile
from pathlib import Path

import torch
from torch._dynamo.decorators import skip

TITLE = "torch.save()"
FILE = Path(tempfile.gettempdir(), "gb0007_hidden.pt")


def encode(x):
    return x.sin()


def decode(hidden):
    return hidden.cos()


def inputs():
    return (torch.randn(8),)


def broken(x):
    hidden = x.sin()
    torch.save(hidden, FILE)
    return hidden.cos()


@skip
def fixed(x):
    """Use this when you can split the function where it saves. Save between
    two compiled functions, in a caller that you don't compile (`skip` stands
    for that)."""
    hidden = encode(x)
    torch.save(hidden, FILE)
    return decode(hidden)
