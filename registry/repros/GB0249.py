"""The program asks for the current stream on a machine without accelerator,
and is ready for the error. Dynamo doesn't raise it for the program to catch."""
import torch

REQUIRES = {"device": "cpu"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        x.record_stream(torch.accelerator.current_stream())
    except RuntimeError:
        pass
    return x.sin()


def fixed(x):
    """Ask first whether there is an accelerator. Dynamo knows the answer."""
    if torch.accelerator.is_available():
        x.record_stream(torch.accelerator.current_stream())
    return x.sin()
