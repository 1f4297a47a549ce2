"""A training step adds the loss to a running total for the log. `.item()`
turns the loss into a number, and so it ends the graph in the middle of the
step."""
import torch

TITLE = "A loss for the log"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}

TOTAL = torch.zeros(())


def inputs():
    return torch.randn(8), torch.randn(8)


def broken(x, target):
    loss = (x - target).square().mean()
    value = loss.item()
    TOTAL.add_(value)
    return loss * 2


def fixed(x, target):
    """Use this when you only store the number. Store the tensor, without its
    gradient. Call `.item()` outside the compiled function, where you write the
    log."""
    loss = (x - target).square().mean()
    TOTAL.add_(loss.detach())
    return loss * 2


def fixed_flag(x, target):
    """Use this when you need a Python number inside the step. Set
    `capture_scalar_outputs`."""
    loss = (x - target).square().mean()
    value = loss.item()
    TOTAL.add_(value)
    return loss * 2
