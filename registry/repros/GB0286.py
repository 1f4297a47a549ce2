"""The program asks for the module of a device that this torch doesn't know,
and would catch the error. Dynamo doesn't raise it where the program can catch
it."""
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
    """Use this when the device stays the same while the program runs. Find its
    module once, outside the compiled function."""
    x = x.sin()
    backend.synchronize()
    return x.cos()


def fixed_own(x):
    """Use this when you mean the device of the tensor. Ask for the module of
    `x.device`: it always exists."""
    x = x.sin()
    torch.get_device_module(x.device).synchronize()
    return x.cos()
