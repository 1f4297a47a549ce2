"""The compiled function raises an exception and doesn't catch it. There is
nothing to record after that, so Dynamo hands over to Python, which raises
it again. Most often the program is wrong without `torch.compile`, too."""
import torch

TITLE = "raise"
EAGER_RAISES = "ValueError"
COVERAGE = "the last line comes after the exception"


def inputs():
    return (torch.randn(3, 4, 4),)


def broken(image):
    if image.dim() != 4:
        raise ValueError("need a batch of images")
    return image.mean((2, 3))


def fixed(image):
    """Use this when you want to accept the input. Handle it instead of
    raising. If the input is a mistake, check before you call the compiled
    function."""
    if image.dim() == 3:
        image = image.unsqueeze(0)
    return image.mean((2, 3))
