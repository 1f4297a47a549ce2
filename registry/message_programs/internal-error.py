"""Something inside Dynamo raises an error that Dynamo does not expect. Here it is
the user's own guard filter, which Dynamo calls while it compiles."""

import torch


def double(x):
    return x * 2


def broken_filter(entries):
    return [entry.no_such_attribute for entry in entries]


def keep_all(entries):
    return [True for _ in entries]


def message():
    options = {"guard_filter_fn": broken_filter}
    torch.compile(double, backend="eager", options=options)(torch.ones(4))


def fixed_cause():
    """Use this when the traceback (TORCHDYNAMO_VERBOSE=1) ends in your code: fix that code."""
    options = {"guard_filter_fn": keep_all}
    return torch.compile(double, backend="eager", options=options)(torch.ones(4))


def fixed_eager():
    """Use this when the error is torch's: run the function without compilation until torch is fixed."""
    options = {"guard_filter_fn": broken_filter}
    with torch.compiler.set_stance("force_eager"):
        return torch.compile(double, backend="eager", options=options)(torch.ones(4))


def eager():
    return double(torch.ones(4))
