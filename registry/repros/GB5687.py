"""`max` or `min` has a `key` that gives tensors. To know which element wins,
Dynamo would have to compare their values, and while tracing there are none."""
import torch

LIMITS = {
    "fixed": {"dtype": "Both tensors need the same dtype."},
    "fixed_stack": {
        "dtype": "All tensors need the same dtype.",
        "nan": "`argmax` takes a NaN for the largest. `max` keeps the first "
        "tensor unless a later one is larger.",
    },
}
REQUIRES = {"release": ">=2.14"}


def inputs():
    return torch.randn(8), torch.randn(8)


def broken(left, right):
    return max((left, right), key=torch.norm).sin()


def fixed(left, right):
    """Use this when there are two candidates. Select with `torch.where`. Like
    `max`, take the second only if it is larger."""
    second = right.norm() > left.norm()
    return torch.where(second, right, left).sin()


def fixed_stack(left, right):
    """Use this when there are many candidates of the same shape. Stack them,
    and select with `argmax`."""
    rows = torch.stack((left, right))
    best = torch.linalg.vector_norm(rows, dim=1).argmax()
    return rows.index_select(0, best.view(1))[0].sin()
