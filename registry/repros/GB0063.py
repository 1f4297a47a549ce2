"""`height, width = size` unpacks something that is not a sequence, here a
number. It fails in eager mode, too."""
import torch

EAGER_RAISES = "TypeError"
TITLE = "unpacking a number"
REQUIRES = {"release": "<2.13"}


def inputs():
    return torch.randn(8, 8), 2


def broken(image, size):
    height, width = size
    return image[:height, :width].sin()


def fixed(image, size):
    """Use this when callers may pass one number for both. Make a pair of it
    before you unpack it."""
    if isinstance(size, int):
        size = (size, size)
    height, width = size
    return image[:height, :width].sin()
