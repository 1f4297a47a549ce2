"""The program asks for the current stream on a machine without an accelerator,
and would catch the error. Dynamo doesn't raise it where the program can catch
it."""
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
    """Use this when the program may run without an accelerator. Ask first
    whether there is one: Dynamo knows the answer."""
    if torch.accelerator.is_available():
        x.record_stream(torch.accelerator.current_stream())
    return x.sin()
