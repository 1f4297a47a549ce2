"""`torch.get_device_module` takes one argument. Here it gets two, which is an
error in eager mode too."""
import torch

EAGER_RAISES = "TypeError"


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    torch.get_device_module("cpu", 0).synchronize()
    return x.cos()


def fixed(x):
    """Pass the device alone. A tensor's own device will do, too."""
    x = x.sin()
    torch.get_device_module("cpu").synchronize()
    return x.cos()
