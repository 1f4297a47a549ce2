"""Mixed precision: the compiled training step calls `GradScaler.scale`. The
scaler keeps its state in Python, and Dynamo doesn't trace `torch.amp`."""
import torch
from torch._dynamo.decorators import skip

TITLE = "GradScaler.scale()"

scaler = torch.amp.GradScaler("cpu")


def loss_of(x):
    return x.sin().square().mean()


def inputs():
    return (torch.randn(8),)


def broken(x):
    loss = x.sin().square().mean()
    return scaler.scale(loss)


@skip
def fixed(x):
    """Use this when your training loop calls `backward()` and `scaler.step()`.
    Scale the loss in that loop, too. `skip` stands for a loop that you don't
    compile."""
    loss = loss_of(x)
    return scaler.scale(loss)
