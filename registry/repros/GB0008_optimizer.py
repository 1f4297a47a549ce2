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
    """You can compile a smaller part: leave `zero_grad()` to the loop, and
    compile what computes the loss. `skip` stands for a loop that you don't
    compile."""
    optimizer.zero_grad()
    return loss_of(x)


def fixed_none(x):
    """The step must stay one graph: remove the gradients yourself, as
    `zero_grad()` does."""
    for parameter in model.parameters():
        parameter.grad = None
    return model(x).square().mean()
