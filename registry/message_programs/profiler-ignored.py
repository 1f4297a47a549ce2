"""The compiled function contains a `record_function` block. Dynamo does not put
it into the graph: the block is dropped, and torch says so once."""

import torch


def labelled(x):
    with torch.profiler.record_function("double"):
        return x * 2


def message():
    torch.compile(labelled, backend="eager")(torch.ones(4))


def fixed_capture():
    """Use this when you want to see the label in a profile: put it into the graph."""
    with torch._dynamo.config.patch(capture_profiler_record_function=True):
        return torch.compile(labelled, backend="eager")(torch.ones(4))


def fixed_outside():
    """Use this when a label around the whole call is enough: put it outside the compiled function."""
    compiled = torch.compile(lambda x: x * 2, backend="eager")
    with torch.profiler.record_function("double"):
        return compiled(torch.ones(4))


def eager():
    return labelled(torch.ones(4))
