"""The text of a number whose class derives from `int` is made by hand, with
`int.__str__`. Dynamo gets the number from outside, and has no rule for its
text."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0005"


class Layer(int):
    def __str__(self):
        return f"layer {int(self)}"


LAYER = Layer(3)
SCALES = {"3": 2.0}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * SCALES[int.__str__(LAYER)]


def fixed(x):
    """Use this when you want the number as `int` writes it. Make an `int` of
    it first."""
    return x * SCALES[str(int(LAYER))]
