"""Dynamo tries each operator on fake tensors, which have a shape but no data.
This custom operator's function for that raises `NotImplementedError`."""
import torch


def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2


unfinished = torch.library.custom_op("gb0087::a", halve, mutates_args=())
finished = torch.library.custom_op("gb0087::b", halve, mutates_args=())
finished.register_fake(torch.empty_like)


@unfinished.register_fake
def _(x):
    raise NotImplementedError


def inputs():
    return (torch.randn(8),)


def broken(x):
    return unfinished(x) + 1


def fixed(x):
    """Use this when the operator is yours. Let its fake function return an
    empty tensor of the right shape. If the operator is torch's own, report
    it."""
    return finished(x) + 1
