"""An operator, `len`, a loop or an index is used on an object whose class is
written in C, such as `array.array`. Python would run a special method like
`__getitem__`. Dynamo has no Python code to trace, and no rule for that class.
The message names the class and the method."""
import array

import torch

TITLE = "array.array"
REQUIRES = {"release": ">=2.14"}
RATES = array.array("d", [0.1, 0.2, 0.4])
RATES_LIST = RATES.tolist()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * RATES[len(x) % 3]


def fixed(x):
    """Use this when the numbers don't change. Keep them in a list, which
    Dynamo can read."""
    return x * RATES_LIST[len(x) % 3]
