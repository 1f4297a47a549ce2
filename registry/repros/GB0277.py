"""The compiled function makes a sparse tensor. Dynamo can't describe sparse
layouts, so the result of `to_sparse` has no place in a graph."""
import torch


@torch.library.custom_op("gb0277::sparse_matmul", mutates_args=())
def sparse_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.to_sparse() @ b


@sparse_matmul.register_fake
def _(a, b):
    return b.new_empty(a.shape[0], b.shape[1])


def inputs():
    return torch.randn(4, 4).relu(), torch.randn(4, 2)


def broken(mask, x):
    return mask.to_sparse() @ x


def fixed(mask, x):
    """The sparse product is worth it: hide it in a custom operator, with
    dense tensors at both ends."""
    return sparse_matmul(mask, x)


def fixed_dense(mask, x):
    """The matrix is small or hardly sparse: multiply the dense one."""
    return mask @ x
