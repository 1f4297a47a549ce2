"""A size comes from a tensor of dtype `uint64`, and `_infer_size` broadcasts
it with a shape. A size is a signed number, and Dynamo can't check that the
unsigned one fits."""
import torch

REACH = "private"
REQUIRES = {"release": ">=2.15"}
FLAGS = {"fixed": {"capture_scalar_outputs": True}}
ROWS = torch.tensor(3, dtype=torch.uint64)


def inputs():
    return (torch.randn(1, 4),)


def broken(x):
    size = torch._C._infer_size(torch.Size([ROWS, 1]), x.shape)
    return x.sin().expand(size)


def fixed(x):
    """Use this when the number is small enough for `int64`. Convert it first.
    The flag `capture_scalar_outputs` keeps it in the graph, as a number not
    known yet."""
    size = torch._C._infer_size(torch.Size([ROWS.long(), 1]), x.shape)
    return x.sin().expand(size)
