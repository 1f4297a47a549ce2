"""The program asks for the module of a device that this torch doesn't know,
and is ready for the error. Dynamo doesn't raise it for the program to catch."""
import torch


def find_backend():
    try:
        return torch.get_device_module("npu")
    except RuntimeError:
        return torch.cpu


backend = find_backend()


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    try:
        torch.get_device_module("npu").synchronize()
    except RuntimeError:
        torch.cpu.synchronize()
    return x.cos()


def fixed(x):
    """Which device it is doesn't change: find its module once, outside."""
    x = x.sin()
    backend.synchronize()
    return x.cos()


def fixed_own(x):
    """The device of the tensor is meant: ask for that, it always exists."""
    x = x.sin()
    torch.get_device_module(x.device).synchronize()
    return x.cos()
