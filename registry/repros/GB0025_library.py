"""A function of a library has the call in it, with a message that says why. You
can't edit the library."""
import torch

TITLE = "Inside a library"


def library_norm(x):
    torch._dynamo.graph_break(msg="wrong result on an old release")
    return x / x.norm()


def norm(x):
    return x / x.norm()


@torch.library.custom_op("gb0025::norm", mutates_args=())
def norm_op(x: torch.Tensor) -> torch.Tensor:
    return library_norm(x)


norm_op.register_fake(torch.empty_like)


def norm_backward(ctx, grad):
    (x,) = ctx.saved_tensors
    size = x.norm()
    return grad / size - x * (grad * x).sum() / size**3


norm_op.register_autograd(
    norm_backward,
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return library_norm(x.sin()).exp()


def fixed(x):
    """The reason is gone, and the function is short: use a copy of your own
    without the call."""
    return norm(x.sin()).exp()


def fixed_custom_op(x):
    """The reason still holds: a custom operator runs the function inside the
    graph, and Dynamo doesn't look into it."""
    return norm_op(x.sin()).exp()
