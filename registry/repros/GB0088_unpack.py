"""The shape of a tensor is unpacked into more names than it has sizes. You
meet this when a batch or channel dimension is missing."""
import torch

TITLE = "Unpacking x.shape"
EAGER_RAISES = "ValueError"


def inputs():
    return (torch.randn(3, 4, 4),)


def broken(x):
    batch, channels, height, width = x.shape
    return x.reshape(batch, channels, height * width).sum(-1)


def fixed(x):
    """Use this when the number of leading dimensions may vary. Name only the
    dimensions that you need."""
    *_, height, width = x.shape
    return x.reshape(*x.shape[:-2], height * width).sum(-1)
