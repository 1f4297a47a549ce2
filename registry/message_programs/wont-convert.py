"""`suppress_errors` is set, so an error of the compiler does not stop the program.
torch prints the error and runs the function eagerly."""

import torch


def double(x):
    return x * 2


def broken_backend(graph, inputs):
    raise ValueError("this backend cannot compile anything")


def message():
    with torch._dynamo.config.patch(suppress_errors=True):
        torch.compile(double, backend=broken_backend)(torch.ones(4))


def fixed_cause():
    """Use this when you know what fails: fix it; here, use a backend that works."""
    with torch._dynamo.config.patch(suppress_errors=True):
        return torch.compile(double, backend="eager")(torch.ones(4))


def fixed_eager():
    """Use this when you cannot fix it: run the function without compilation, and without the attempt."""
    with torch.compiler.set_stance("force_eager"):
        return torch.compile(double, backend=broken_backend)(torch.ones(4))


def eager():
    return double(torch.ones(4))
