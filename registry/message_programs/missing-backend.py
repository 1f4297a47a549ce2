"""The name of the backend has a typing error."""

import torch


def double(x):
    return x * 2


def message():
    torch.compile(double, backend="indcutor")


def fixed_name():
    """Use this when the name is wrong: `torch._dynamo.list_backends(None)` shows all names."""
    return torch.compile(double, backend="eager")(torch.ones(4))


def fixed_callable():
    """Use this when the backend is your own: pass the function instead of a name."""

    def my_backend(graph, inputs):
        return graph.forward

    return torch.compile(double, backend=my_backend)(torch.ones(4))


def eager():
    return double(torch.ones(4))
