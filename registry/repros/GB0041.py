"""A branch of `torch.cond` changes its operand in place. While gradients are
on, Dynamo refuses a branch that writes to its inputs."""
import torch

COMPILE = {"dynamic": True}
GRADIENT = {
    "fixed_no_grad": "Autograd doesn't see the branch. So there is no gradient,"
    " or with some backends that of `x + 1`. Don't use it to train."
}


def inputs():
    return (torch.randn(int(torch.randint(2, 9, ()))),)


def broken(x):
    x = x + 1
    return torch.cond(len(x) > 4, torch.relu_, torch.sigmoid_, (x,))


def fixed(x):
    """Use this when you need gradients, and in most other cases. Call the
    version of the function that returns a new tensor."""
    x = x + 1
    return torch.cond(len(x) > 4, torch.relu, torch.sigmoid, (x,))


def fixed_no_grad(x):
    """Use this when you only do inference. With gradients off, a branch may
    write to its inputs."""
    x = x + 1
    with torch.no_grad():
        return torch.cond(len(x) > 4, torch.relu_, torch.sigmoid_, (x,))
