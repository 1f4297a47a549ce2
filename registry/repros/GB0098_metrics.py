"""A function for logs or metrics is disabled, because it uses `.item()` or
writes somewhere. It is called in the middle of the model, and the graph ends
there."""
import torch
from torch._dynamo.decorators import skip

TITLE = "Disabled logging"
SEEN = []


@torch.compiler.disable(reason="it calls .item()")
def log_loss(loss):
    SEEN.append(loss.item())


def step(x):
    loss = x.square().mean()
    return loss.sqrt(), loss


def inputs():
    return (torch.randn(8),)


def broken(x):
    loss = x.square().mean()
    log_loss(loss)
    return loss.sqrt()


@skip
def fixed(x):
    """Use this when the log can wait until the graph has run. Return what you
    want to log, and log it in the caller. `skip` stands for a caller that you
    don't compile."""
    result, loss = step(x)
    log_loss(loss)
    return result
