"""The message of `torch._check` uses a variable of the function around it.
Dynamo keeps the message for later, and can't keep the variable with it."""
import torch

REQUIRES = {"release": ">=2.10,<2.13"}


def inputs():
    return torch.randn(8), int(torch.randint(2, 6, ()))


def broken(x, rows):
    torch._check(rows < len(x), lambda: f"{rows} rows are too many")
    return x[:rows].sin()


def fixed(x, rows):
    """Use this when the message can do without the value. Then the function
    that makes it needs no variable."""
    torch._check(rows < len(x), lambda: "too many rows")
    return x[:rows].sin()


def fixed_if(x, rows):
    """Use this when the message needs the value, and the condition is about
    Python numbers. Dynamo traces a plain `if` for that."""
    if rows >= len(x):
        raise ValueError(f"{rows} rows are too many")
    return x[:rows].sin()
