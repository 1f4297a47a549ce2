"""The compiled function calls `warnings.warn`, which ends in C code that Dynamo
can't trace. With `fullgraph=True` that is an error, else a graph break."""
import warnings

import torch


def check(x):
    if x.shape[0] > 3:
        warnings.warn("the input is long")
    return x.sin()


def message():
    return torch.compile(check, backend="eager", fullgraph=True)(torch.ones(4))


def fixed():
    """Use this when the warning must stay: Dynamo issues it after the graph has
    run. In your program, call
    `torch._dynamo.config.reorderable_logging_functions.add(warnings.warn)` once,
    in the thread that calls the model."""
    functions = {warnings.warn}
    with torch._dynamo.config.patch(reorderable_logging_functions=functions):
        compiled = torch.compile(check, backend="eager", fullgraph=True)
        return compiled(torch.ones(4))


def fixed_skip():
    """Use this when compiled code needn't warn: ask whether the code is being
    compiled, and warn only if it is not."""

    def quiet_check(x):
        if x.shape[0] > 3 and not torch.compiler.is_compiling():
            warnings.warn("the input is long")
        return x.sin()

    compiled = torch.compile(quiet_check, backend="eager", fullgraph=True)
    return compiled(torch.ones(4))


def eager():
    return check(torch.ones(4))
