"""With `enable_trace_unittest` Dynamo traces the methods of a `TestCase`, but
not `assertWarns`: it has no rule for catching warnings that way."""
import unittest
import warnings

import torch

REACH = "config"
CONFIG = {"enable_trace_unittest": True}
NO_FIX = "The warning comes from Python code at run time, outside of any graph."

test = unittest.TestCase()


def inputs():
    return (torch.randn(8),)


def broken(x):
    with test.assertWarns(UserWarning):
        warnings.warn("x is not checked")
    return x.sin()


@torch.compiler.disable
def check_warning():
    with test.assertWarns(UserWarning):
        warnings.warn("x is not checked")


def isolated(x):
    """Keep the check for warnings in a function that isn't compiled."""
    check_warning()
    return x.sin()
