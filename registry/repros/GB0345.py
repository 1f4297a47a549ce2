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
    """You need `strict_mode`: pass each tensor by itself, and put them together
    inside. (Inductor, the default backend, can't compile the operator.)"""
    strict = torch.ops.higher_order.strict_mode
    return strict(lambda x, *rest: x + rest[0], (x, y))


def add_first(x, rest):
    return x + rest[0]


def fixed_call(x, y):
    """The code runs under `torch.compile` only, and you don't train: call the
    function itself, and detach. `fullgraph=True` makes Dynamo strict."""
    return add_first(x, [y]).detach()


def fixed_differentiable(x, y):
    """The code runs under `torch.compile` only, and you train through it: call
    the function itself."""
    return add_first(x, [y])
