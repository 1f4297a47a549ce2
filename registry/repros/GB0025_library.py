"""A function of a library has the call in it, with a message that says why.
You can't edit the library."""
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
    of_size = -(grad * (x / size / size)).sum()
    return grad / size + x * (of_size / size)


norm_op.register_autograd(
    norm_backward,
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return library_norm(x.sin()).exp()


def fixed(x):
    """Use this when the reason for the call is gone, and the function is
    short. Use your own copy of it, without the call."""
    return norm(x.sin()).exp()


def fixed_custom_op(x):
    """Use this when the reason for the call still holds. A custom operator
    runs the function inside the graph, and Dynamo doesn't look into it."""
    return norm_op(x.sin()).exp()
