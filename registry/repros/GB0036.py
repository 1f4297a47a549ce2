"""The size of an operator's result depends on the data. A mask as an index,
for example, keeps as many elements as it has `True` values. By default Dynamo
doesn't put such an operator into a graph."""
import torch

TITLE = "x[mask]"
FLAGS = {"fixed_flag": {"capture_dynamic_output_shape_ops": True}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    positive = x[x > 0]
    return positive.exp().sum()


def fixed(x):
    """Use this when you reduce the selection anyway. Keep the full size, and
    mask the rest, also before `exp`: a NaN there would spoil the gradient."""
    kept = x > 0
    x = torch.where(kept, x, 0)
    return torch.where(kept, x.exp(), 0).sum()


def fixed_flag(x):
    """Use this when you need the selection itself. Set
    `capture_dynamic_output_shape_ops`. The graph then has a size that is known
    only when it runs. Code that branches on that size still breaks."""
    positive = x[x > 0]
    return positive.exp().sum()
