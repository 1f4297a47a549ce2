"""The compiled function makes a sparse tensor. Dynamo can't describe sparse
layouts, so the result of `to_sparse` has no place in a graph."""
import torch

OPAQUE = {
    "fixed": "A graph can't hold a sparse tensor. So the sparse product has to "
    "be inside one operator, and the rest of your model stays in the graph."
}


@torch.library.custom_op("gb0277::sparse_matmul", mutates_args=())
def sparse_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.to_sparse() @ b


@sparse_matmul.register_fake
def _(a, b):
    return b.new_empty(a.shape[0], b.shape[1])


def save(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def gradients(ctx, grad):
    a, b = ctx.saved_tensors
    return grad @ b.t(), a.t() @ grad


sparse_matmul.register_autograd(gradients, setup_context=save)


def inputs():
    return torch.randn(4, 4).relu(), torch.randn(4, 2)


def broken(mask, x):
    return mask.to_sparse() @ x


def fixed(mask, x):
    """The sparse product is faster: put it into a custom operator, with dense
    tensors at both ends. To train, it needs `register_autograd`."""
    return sparse_matmul(mask, x)


def fixed_dense(mask, x):
    """The matrix is small or hardly sparse: multiply the dense one."""
    return mask @ x
