"""Dynamo tries each operator on fake tensors, which have a shape but no
data, and the operator raised an error. This custom operator was never told
what shape it returns."""
import torch


def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2


unknown = torch.library.custom_op("gb4315::unknown", halve, mutates_args=())
known = torch.library.custom_op("gb4315::known", halve, mutates_args=())
known.register_fake(torch.empty_like)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return unknown(x) + 1


def fixed(x):
    """Use this when the message asks for a fake impl. Register a function that
    returns an empty tensor of the right shape. If the message complains about
    shapes instead, fix the call: most likely it fails in eager mode, too."""
    return known(x) + 1
