"""`strict_mode` was given a list among its operands. Dynamo takes a flat
sequence of operands here, without containers inside."""
import torch

REACH = "private"
COMPILE = {"backend": "eager"}
GRADIENT = {
    "fixed_differentiable": "In eager mode no gradient flows through "
    "`strict_mode`. Here one does."
}


def inputs():
    return torch.randn(8), torch.randn(8)


def broken(x, y):
    strict = torch.ops.higher_order.strict_mode
    return strict(lambda x, rest: x + rest[0], (x, [y]))


def fixed(x, y):
    """Use this when you need `strict_mode`. Pass each tensor as its own
    operand, and put them together inside. (Inductor, the default backend,
    can't compile the operator.)"""
    strict = torch.ops.higher_order.strict_mode
    return strict(lambda x, *rest: x + rest[0], (x, y))


def add_first(x, rest):
    return x + rest[0]


def fixed_call(x, y):
    """Use this when the code runs only under `torch.compile`, and you don't
    train. Call the function itself, and detach the result. `fullgraph=True`
    makes Dynamo strict."""
    return add_first(x, [y]).detach()


def fixed_differentiable(x, y):
    """Use this when the code runs only under `torch.compile`, and you train
    through it. Call the function itself, without `detach`."""
    return add_first(x, [y])
