"""A backend of your own raises an error while it compiles the graph. Dynamo
wraps that error, says which backend it was, and the program stops."""

import torch


def inputs():
    return (torch.arange(6.0),)


def double(x):
    return x * 2


def message():
    def broken_backend(graph, example_inputs):
        raise NotImplementedError("mul is not supported by this backend")

    return torch.compile(double, backend=broken_backend)(*inputs())


def fixed():
    """Use this when the backend is yours: return a callable for every graph,
    and return the graph itself for what you can't compile."""

    def careful_backend(graph, example_inputs):
        return graph.forward

    return torch.compile(double, backend=careful_backend)(*inputs())


def fixed_other_backend():
    """Use this when the backend is somebody else's: take one that can compile
    your model. `eager` runs the traced graph without a compiler."""
    return torch.compile(double, backend="eager")(*inputs())


def eager():
    return double(*inputs())
