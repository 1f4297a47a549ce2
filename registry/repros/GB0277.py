"""The compiled function makes a sparse tensor. Dynamo can't describe sparse
layouts, so the result of `to_sparse` has no place in a graph."""
import torch

OPAQUE = {
    "fixed": "A graph can't hold a sparse tensor. So the sparse product has to "
    "be inside one operator, and the rest of your model stays in the graph."
}

LIMITS = {
    "fixed_dense": {
        "nan": "The sparse product skips zeros. Here zero times NaN is NaN.",
        "inf": "The sparse product skips zeros. Here zero times infinity is NaN.",
    }
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
    """Use this when the sparse product is faster. Put it into a custom
    operator that takes and returns dense tensors. To train, the operator needs
    `register_autograd`."""
    return sparse_matmul(mask, x)


def fixed_dense(mask, x):
    """Use this when the matrix is small or hardly sparse. Multiply the dense
    matrix."""
    return mask @ x
