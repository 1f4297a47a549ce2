"""A debugging flag is on. It makes Dynamo break at the end of every function
that calls no other function of its own, to test how it goes on from there."""
import torch

REACH = "config"
CONFIG = {"debug_force_graph_break_on_leaf_return": True}
FLAGS = {"fixed_flag": {"debug_force_graph_break_on_leaf_return": False}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin()


def fixed_flag(x):
    """Use this when you are done debugging. Turn off
    `debug_force_graph_break_on_leaf_return`. That costs nothing."""
    return x.sin()
