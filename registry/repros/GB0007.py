"""The call goes to a function that Dynamo can't trace: it is written in C (or
is a C++ extension) and Dynamo has no rule for it, or it lies in a Python file
that Dynamo skips on purpose, such as `random` or parts of torch."""
import bisect

import torch

TITLE = "A C function"
ORDER = [
    "GB0007_extension",
    "GB0007_time",
    "GB0007_path",
    "GB0007_warnings",
    "GB0007_filters",
    "GB0007_random",
    "GB0007_synchronize",
    "GB0007_broadcast",
    "GB0007_collect",
    "GB0007_save",
    "GB0007",
]
SIZES = [4, 8, 16]


def inputs():
    return (torch.randn(6),)


def broken(x):
    size = SIZES[bisect.bisect_left(SIZES, len(x))]
    return torch.nn.functional.pad(x, (0, size - len(x)))


def fixed(x):
    """Use this when one line of plain Python does the same. Write that line
    instead: Dynamo traces it."""
    size = next(size for size in SIZES if size >= len(x))
    return torch.nn.functional.pad(x, (0, size - len(x)))
