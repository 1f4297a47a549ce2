"""This is how strict export ends a trace: with the outputs and a description
of their structure. The description holds a function that was made inside and
uses a tensor, so Dynamo can't keep it as a constant."""
import collections

import torch
from torch._dynamo.functional_export import ExportTracerOutput
from torch.utils._pytree import tree_flatten

CONFIG = {"log_graph_in_out_metadata": True}
REACH = "private"
EFFECTS = {"fixed": "The same function is the default after each call."}


def missing():
    return torch.zeros(4)


def inputs():
    return (torch.randn(4),)


def broken(x):
    y = x.sin()
    table = collections.defaultdict(lambda: torch.zeros_like(y), {"sin": y})
    return ExportTracerOutput(*tree_flatten(table))


def fixed(x):
    """Use this when the function can do without variables from inside. Define
    it at module level."""
    y = x.sin()
    table = collections.defaultdict(missing, {"sin": y})
    return ExportTracerOutput(*tree_flatten(table))
