"""A list is indexed with a tensor. Python needs the tensor's value to find the
item, and while Dynamo traces there are no values yet. The message speaks of a
tensor with more than one element, but one element is enough."""
import torch

REQUIRES = {"release": "<2.12"}

SCALES = [0.5, 1.0, 2.0]
SCALES_TENSOR = torch.tensor(SCALES)


def inputs():
    return (torch.randn(3),)


def broken(x):
    return x * SCALES[x.argmax()]


def fixed(x):
    """Use this when the items are numbers. Keep them in a tensor: `take` takes
    the index as a tensor."""
    return x * SCALES_TENSOR.take(x.argmax())
