"""Dynamo is done with the graph, but the backend that compiles it fails: it
also traces the backward of this custom operator, and that asks for a tensor's
value. Dynamo then runs the function without the graph."""
import torch

# Inductor, the default backend, fails in the same way.
CONFIG = {"debug_backend_override": ">=0:aot_eager"}
REACH = "config"


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def asking(ctx, grad):
    return grad * 2 if grad.sum().item() > 0 else grad


def selecting(ctx, grad):
    return torch.where(grad.sum() > 0, grad * 2, grad)


def operator(name, backward):
    made = torch.library.custom_op(name, double, mutates_args=())
    made.register_fake(torch.empty_like)
    made.register_autograd(backward)
    return made


asks = operator("gb0219::asks", asking)
selects = operator("gb0219::selects", selecting)


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    return asks(x) + 1


def fixed(x):
    """Use this when the operator is yours. Write its backward with tensor
    operations only."""
    return selects(x) + 1
