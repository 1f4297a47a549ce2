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
    """You need Python numbers: keep them in a list, which Dynamo can repeat."""
    return x * torch.tensor(PATTERN_LIST * 4)


def fixed_repeat(x):
    """The pattern never changes: make it a tensor once, and repeat that."""
    return x * PATTERN_TENSOR.repeat(4)
