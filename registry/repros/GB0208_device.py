"""`torch.get_default_device` returns a device. You meet this in helpers that
create a tensor and have none to take the device from."""
import torch

TITLE = "torch.get_default_device"


def inputs():
    return (torch.randn(4),)


def broken(x):
    device = torch.get_default_device()
    return x * torch.full((), 2.0, device=device)


def fixed(x):
    """Use this when the function has a tensor as input. Take its device. This
    also works when the input is not on the default device."""
    return x * torch.full((), 2.0, device=x.device)


def fixed_default(x):
    """Use this when you want the default device. Leave out `device`."""
    return x * torch.full((), 2.0)
