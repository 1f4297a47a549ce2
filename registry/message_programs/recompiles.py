"""The same compiled function is called with batches of two sizes. Dynamo wrote
the first size into the compiled code, so the second call compiles again."""

import torch

ENVIRONMENT = {"TORCH_LOGS": "recompiles"}


def double(x):
    return x * 2


def batches():
    return torch.ones(4, 3), torch.ones(5, 3)


def message():
    compiled = torch.compile(double, backend="eager")
    for x in batches():
        compiled(x)


def fixed_dynamic():
    """Use this when many sizes differ: compile once for any size."""
    compiled = torch.compile(double, backend="eager", dynamic=True)
    return tuple(compiled(x) for x in batches())


def fixed_mark():
    """Use this when you know which dimension changes: say so before the first call."""
    compiled = torch.compile(double, backend="eager")
    results = []
    for x in batches():
        torch._dynamo.mark_dynamic(x, 0)
        results.append(compiled(x))
    return tuple(results)


def fixed_pad():
    """Use this when you can give every batch one size: pad the small ones and cut the result."""
    compiled = torch.compile(double, backend="eager")
    results = []
    for x in batches():
        padded = torch.nn.functional.pad(x, (0, 0, 0, 8 - len(x)))
        results.append(compiled(padded)[: len(x)])
    return tuple(results)


def eager():
    return tuple(double(x) for x in batches())
