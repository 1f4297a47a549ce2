"""`random_` fills a tensor with random integers. Its operator has an argument
called `from`, a Python keyword, and Dynamo doesn't put it into a graph."""
import torch
import torch._inductor.config

torch._inductor.config.fallback_random = True  # same numbers as eager


def inputs():
    return (torch.randn(8),)


def broken(x):
    shift = torch.empty_like(x, dtype=torch.int64).random_(0, 5)
    return x + shift


def fixed(x):
    """Use this when you want a new tensor. `randint_like` makes and fills it
    in one step."""
    shift = torch.randint_like(x, 0, 5, dtype=torch.int64)
    return x + shift


def fixed_in_place(x):
    """Use this when the tensor already exists and must be filled. Copy random
    integers into it."""
    shift = torch.empty_like(x, dtype=torch.int64)
    shift.copy_(torch.randint_like(shift, 0, 5))
    return x + shift
