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
    """Use this when you want the module of a device. Pass the device alone.
    You can also pass the device of a tensor."""
    x = x.sin()
    torch.get_device_module("cpu").synchronize()
    return x.cos()
