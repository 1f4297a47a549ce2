"""A loop goes through the characters of a text that `str.format` makes from a
size that can change. Dynamo waits for the size before it makes the text, so it
doesn't know the characters yet."""
import torch

TITLE = "A text from a dynamic size"
REQUIRES = {"release": ">=2.13"}
LIMITS = {
    "fixed_numbers": {"size": "It adds two digits: sizes must be below 100."}
}
COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(10, 90, ()))),)


def broken(x):
    digits = [int(digit) for digit in "{}".format(len(x))]
    return x * sum(digits)


def fixed(x):
    """Use this when there are only a few sizes. An f-string makes the size a
    constant, so each new size costs a compilation."""
    digits = [int(digit) for digit in f"{len(x)}"]
    return x * sum(digits)


def fixed_numbers(x):
    """Use this when there are many sizes, and you know how many digits they
    have. Compute the digits with `//` and `%`."""
    return x * (len(x) // 10 + len(x) % 10)
