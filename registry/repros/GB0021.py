"""An f-string contains a float that Dynamo treats as dynamic: its value is an
input of the graph, not known while tracing. Dynamo can't put such a number
into the parts of an f-string."""
import torch

TITLE = "An f-string"
COMPILE = {"dynamic": True}
FLAGS = {"fixed_flag": {"specialize_float": True}}


def inputs():
    return torch.randn(8), torch.rand(()).item()


def broken(x, rate):
    return x.sin(), f"rate {rate}"


def fixed(x, rate):
    """Use this when the float has many values and you need it in a string.
    Call `str.format`, which can wait for the number."""
    return x.sin(), "rate {}".format(rate)


def fixed_flag(x, rate):
    """Use this when the float has few values. The flag `specialize_float`
    makes it a constant. Each value then costs a compilation."""
    return x.sin(), f"rate {rate}"
