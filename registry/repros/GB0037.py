"""How many values are selected depends on the data. With this flag Dynamo can
trace that, but not in the variant of the operator that writes to `out=`."""
import torch

CONFIG = {"capture_dynamic_output_shape_ops": True}
REACH = "config"


def inputs():
    return (torch.randn(8),)


def broken(x):
    out = x.new_empty(0)
    torch.masked_select(x, x > 0, out=out)
    return out * 2


def fixed(x):
    """Use this when no other code needs the tensor that you pass as `out=`.
    Take the result as a new tensor."""
    out = torch.masked_select(x, x > 0)
    return out * 2
