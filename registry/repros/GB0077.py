"""A sequence is unpacked into the wrong number of names. It fails in eager
mode, too. The message calls it a bug in Dynamo, but it's one in the
program."""
import torch

EAGER_RAISES = "ValueError"
REQUIRES = {"release": "<2.13"}


def inputs():
    return (torch.randn(4, 6, 2),)


def broken(image):
    height, width = image.shape
    return image / (height * width)


def fixed(image):
    """Use this when you know how many values there are. Give each a name."""
    height, width, channels = image.shape
    return image / (height * width)


def fixed_star(image):
    """Use this when the number of values differs from call to call. A name
    with `*` takes the rest."""
    height, width, *rest = image.shape
    return image / (height * width)
