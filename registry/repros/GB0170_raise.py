"""Code checks the values of a tensor and raises an error if they are bad. You
meet this with checks for NaN, and for indices that are out of range."""
import torch

TITLE = "raise on bad values"
LIMITS = {
    "fixed": {"nan": "The error is a RuntimeError, and not a ValueError."},
    "fixed_async": {"nan": "The error is a RuntimeError, and not a ValueError."},
}
COVERAGE = "the inputs are good, so the line that raises is not run"


def inputs():
    return (torch.randn(8),)


def broken(x):
    if x.isnan().any():
        raise ValueError("x has NaN")
    return x.exp()


def fixed(x):
    """Use this when the check must stay. `assert` becomes a part of the graph,
    and fails when the graph runs. In compiled code the error is a
    RuntimeError."""
    assert (~x.isnan()).all(), "x has NaN"
    return x.exp()


def fixed_async(x):
    """Use this when your program runs with `python -O`, which removes
    `assert`. Call `torch._assert_async`, the function that Dynamo makes of an
    `assert`."""
    torch._assert_async((~x.isnan()).all(), "x has NaN")
    return x.exp()
