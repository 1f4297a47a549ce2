"""A symbolic size from another trace comes in, and no value is known for it,
since it depends on data. Dynamo takes symbolic sizes only with a value."""
import torch
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

REACH = "private"

env = ShapeEnv()
UNKNOWN = env.create_unbacked_symint()
KNOWN = env.create_unspecified_symint_and_symbol(
    4, ConstantSource("size"), DimDynamic.DYNAMIC
)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x.sin() if UNKNOWN is not None else x


def fixed(x):
    """Use this when you control the outer trace. Make the size one that has an
    example value, as the sizes of example inputs do."""
    return x.sin() if KNOWN is not None else x
