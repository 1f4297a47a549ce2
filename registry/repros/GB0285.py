"""`torch.accelerator.current_stream` takes one argument, the device. Here it
gets two, which is an error in eager mode too."""
import torch

EAGER_RAISES = "TypeError"
NO_FIX = "the right call, `current_stream('cuda:0')`, needs an accelerator"


def inputs():
    return (torch.randn(8),)


def broken(x):
    x.record_stream(torch.accelerator.current_stream("cuda", 0))
    return x.sin()
