"""The compiled function itself calls `torch.compiler.disable`, to run one step
without compilation. Dynamo doesn't trace that call. It is made for the place
where a function is defined."""
import torch
from torch._dynamo.decorators import skip

REQUIRES = {"release": ">=2.14"}
SEEN = []


def log_loss(loss):
    SEEN.append(loss.item())


def step(x):
    loss = x.square().mean()
    return loss.sqrt(), loss


def inputs():
    return (torch.randn(8),)


def broken(x):
    loss = x.square().mean()
    torch.compiler.disable(log_loss)(loss)
    return loss.sqrt()


@skip
def fixed(x):
    """Use this when the step can wait until the graph has run. Return what it
    needs, and take the step in the caller. `skip` stands for a caller that
    you don't compile."""
    result, loss = step(x)
    SEEN.append(loss.item())
    return result
