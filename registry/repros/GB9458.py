"""`array * 2` repeats an `array.array`, which is written in C. Dynamo has no
rule for repeating one."""
import array

import torch

REACH = "contrived"
NEIGHBOUR = "GB4880"
REQUIRES = {"device": "cpu"}
PATTERN = array.array("f", [1.0, -1.0])
PATTERN_LIST = PATTERN.tolist()
PATTERN_TENSOR = torch.tensor(PATTERN)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * torch.tensor(PATTERN * 4)


def fixed(x):
    """Use this when you need Python numbers. Keep them in a list, which Dynamo
    can repeat."""
    return x * torch.tensor(PATTERN_LIST * 4)


def fixed_repeat(x):
    """Use this when the pattern never changes. Make it a tensor once, and
    repeat that tensor."""
    return x * PATTERN_TENSOR.repeat(4)
