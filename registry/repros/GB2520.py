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
    """Use this when the function needs only numbers. Pass the numbers. Note
    that Dynamo calls the function once per compilation and keeps the
    result."""
    return x.sum() / longest(len(x), len(y))


def fixed_unmarked(x, y):
    """Use this when Dynamo can trace the code of the function. Leave out the
    mark, `assume_constant_result`."""
    return x.sum() / max(map(len, [x, y]))
