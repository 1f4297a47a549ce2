"""`and`, `or` and `not` ask a tensor for yes or no, like `if` does. You meet
this where code looks for infinite or missing values before it repairs them."""
import torch

TITLE = "and, or, not"


def inputs():
    return (torch.randn(8).exp() / torch.randint(0, 20, (8,)),)


def broken(x):
    if x.isinf().any() or x.isnan().any():
        x = x.nan_to_num(0.0, 9.0)
    return x.sqrt()


def fixed_branchless(x):
    """Use this when the change does nothing to good values. Always apply
    it."""
    return x.nan_to_num(0.0, 9.0).sqrt()


def fixed(x):
    """Use this when both branches are cheap. Join the conditions with `|` (`&`
    for `and`, `~` for `not`) and select with `torch.where`."""
    bad = x.isinf().any() | x.isnan().any()
    return torch.where(bad, x.nan_to_num(0.0, 9.0), x).sqrt()


def fixed_cond(x):
    """Use this when a branch is expensive. Join the conditions with `|`, and
    branch with `torch.cond`."""
    bad = x.isinf().any() | x.isnan().any()
    x = torch.cond(bad, lambda x: x.nan_to_num(0.0, 9.0), torch.clone, (x,))
    return x.sqrt()
