"""The function asks whether a file is there, or lists a folder. `os.path` and
`pathlib` end in C functions of `posix` (on Windows, `nt`)."""
import os
import tempfile

import torch
from torch._dynamo.decorators import skip

TITLE = "os.path.exists()"
FILE = os.path.join(tempfile.gettempdir(), "gb0007_scores.pt")


def score(x):
    return x.exp().softmax(0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.exp()
    return {"cached": os.path.exists(FILE), "scores": x.softmax(0)}


@skip
def fixed(x):
    """Use this when you can ask before or after the compiled function. `skip`
    stands for a caller that you don't compile. If the function computes
    something else with the file, pass the answer in."""
    scores = score(x)
    return {"cached": os.path.exists(FILE), "scores": scores}
