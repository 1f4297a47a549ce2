"""You compiled the whole training step, and it calls `zero_grad()`. Dynamo
doesn't trace it, nor `state_dict()` or `add_param_group()`."""
import torch
from torch._dynamo.decorators import skip

TITLE = "optimizer.zero_grad()"

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def loss_of(x):
    return model(x).square().mean()


def inputs():
    return (torch.randn(8, 4),)


def broken(x):
    optimizer.zero_grad()
    return model(x).square().mean()


@skip
def fixed(x):
    """Use this when it is enough to compile the part that computes the loss.
    Leave `zero_grad()` to the training loop. `skip` stands for a loop that you
    don't compile."""
    optimizer.zero_grad()
    return loss_of(x)


def fixed_none(x):
    """Use this when the step must stay one graph. Remove the gradients
    yourself, as `zero_grad()` does."""
    for parameter in model.parameters():
        parameter.grad = None
    return model(x).square().mean()
