"""Someone taught Dynamo about a higher-order operator of their own, but the
class that stands for the operator does not say how to trace a call."""
import torch
from torch._dynamo.variables import higher_order_ops
from torch._ops import HigherOrderOperator

REACH = "private"


class Twice(HigherOrderOperator):
    def __call__(self, fn, x):
        return fn(fn(x))


class Named(higher_order_ops.TorchHigherOrderOperatorVariable):
    _HOP_NAME = "twice"


class Traced(Named):
    def _call_function(self, tx, args, kwargs):
        once = args[0].call_function(tx, args[1:], kwargs)
        return args[0].call_function(tx, [once], kwargs)


twice, twice_traced = Twice("gb0307"), Twice("gb0307_traced")
higher_order_ops._hop_name_to_variable_class["gb0307"] = Named
higher_order_ops._hop_name_to_variable_class["gb0307_traced"] = Traced


def inputs():
    return (torch.randn(8),)


def broken(x):
    return twice(torch.sin, x)


def fixed(x):
    """Use this when you want to keep the operator. Give the class that stands
    for it a `_call_function`."""
    return twice_traced(torch.sin, x)


def run_twice(fn, x):
    return fn(fn(x))


def fixed_function(x):
    """Use this when the operator only calls the function. Make it a plain
    function; then you need nothing private of torch."""
    return run_twice(torch.sin, x)
