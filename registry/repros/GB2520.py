"""A function marked with `assume_constant_result` is called by Dynamo itself,
at compile time, with real values. Dynamo has none for a list of tensors."""
import torch


@torch.compiler.assume_constant_result
def widest(tensors):
    return max(map(len, tensors))


@torch.compiler.assume_constant_result
def longest(*lengths):
    return max(lengths)


def inputs():
    return torch.randn(8), torch.randn(6)


def broken(x, y):
    return x.sum() / widest([x, y])


def fixed(x, y):
    """The function needs only numbers: pass the numbers. Mind that Dynamo
    calls the function once per compilation and keeps the result."""
    return x.sum() / longest(len(x), len(y))


def fixed_unmarked(x, y):
    """Dynamo can trace the code: leave the mark out."""
    return x.sum() / max(map(len, [x, y]))
