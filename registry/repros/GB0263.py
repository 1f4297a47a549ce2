"""With `enable_trace_contextlib` switched off, Dynamo refuses to enter
context managers made with `contextlib.contextmanager`."""
import contextlib

import torch

CONFIG = {"enable_trace_contextlib": False}
REACH = "config"
FLAGS = {"fixed_flag": {"enable_trace_contextlib": True}}
STATE = {"scale": 1.0}


@contextlib.contextmanager
def scaled(value):
    STATE["scale"] = value
    try:
        yield
    finally:
        STATE["scale"] = 1.0


class Scaled:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        STATE["scale"] = self.value

    def __exit__(self, *error):
        STATE["scale"] = 1.0


def inputs():
    return (torch.randn(8),)


def broken(x):
    with scaled(2.0):
        return x * STATE["scale"]


def fixed_flag(x):
    """Use this when nothing goes wrong while Dynamo traces your context
    managers. Leave `enable_trace_contextlib` on, as it is by default."""
    with scaled(2.0):
        return x * STATE["scale"]


def fixed(x):
    """Use this when `enable_trace_contextlib` must stay off. Write a class
    with `__enter__` and `__exit__`: the flag doesn't affect it."""
    with Scaled(2.0):
        return x * STATE["scale"]
