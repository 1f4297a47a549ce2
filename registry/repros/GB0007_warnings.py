"""The function warns its users with `warnings.warn`, of an argument or of a
name that will go away. The call ends in C code."""
import warnings

import torch
from torch._dynamo.decorators import skip

TITLE = "warnings.warn()"
FLAGS = {"fixed_flag": {"reorderable_logging_functions": {warnings.warn}}}


def score(x):
    return x.exp().softmax(0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.exp()
    warnings.warn("use scores() instead")
    return x.softmax(0)


@skip
def fixed(x):
    """Use this when you can warn before the compiled function is called. `skip`
    stands for a caller that you don't compile."""
    warnings.warn("use scores() instead")
    return score(x)


def fixed_flag(x):
    """Use this when the compiled function itself warns. With `warnings.warn` in
    the setting `reorderable_logging_functions`, Dynamo warns after the graph has
    run. A warning of a function that it calls is lost (torch 2.11 and 2.13).
    This works for a text alone: `warnings.warn(text, FutureWarning)` still
    breaks."""
    x = x.exp()
    warnings.warn("use scores() instead")
    return x.softmax(0)
