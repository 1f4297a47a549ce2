"""The function reads a number out of a tensor and decides with it. At compile
time nobody knows the number, and fullgraph=True allows no graph break."""

import torch

torch._dynamo.config.capture_scalar_outputs = True


def branch(x):
    n = x.max().item()
    if n > 3:
        return x + 1
    return x - 1


def message():
    torch.compile(branch, backend="eager", fullgraph=True)(torch.arange(8))


def fixed_check():
    """Use this when only one side of the condition can happen: promise it with `torch._check`."""

    def checked(x):
        n = x.max().item()
        torch._check(n > 3)
        if n > 3:
            return x + 1
        return x - 1

    return torch.compile(checked, backend="eager", fullgraph=True)(torch.arange(8))


def fixed_where():
    """Use this when both sides can happen and are cheap: compute both, and choose with a tensor."""

    def chosen(x):
        return torch.where(x.max() > 3, x + 1, x - 1)

    return torch.compile(chosen, backend="eager", fullgraph=True)(torch.arange(8))


def fixed_cond():
    """Use this when both sides can happen and are expensive: `torch.cond` runs only one."""

    def conditional(x):
        return torch.cond(x.max() > 3, lambda x: x + 1, lambda x: x - 1, (x,))

    return torch.compile(conditional, backend="eager", fullgraph=True)(torch.arange(8))


def fixed_break():
    """Use this when a graph break does not hurt: leave `fullgraph=True` out."""
    return torch.compile(branch, backend="eager")(torch.arange(8))


def eager():
    return branch(torch.arange(8))
