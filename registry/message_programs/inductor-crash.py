"""Inductor meets an operator it has no code for, and here it may not call the
operator's own kernel instead. It stops with an error of its own."""

import torch


@torch.library.custom_op("registry_messages::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def like(x):
    return torch.empty_like(x)


def inputs():
    return (torch.arange(6.0),)


def step(x):
    return twice(x) + 1


def message():
    return torch.compile(step, options={"implicit_fallbacks": False})(*inputs())


def fixed():
    """Use this when an option of yours causes it: with the default options
    Inductor calls the operator as it is."""
    return torch.compile(step)(*inputs())


def fixed_without_inductor():
    """Use this when Inductor has a bug and you need your program to run today:
    `aot_eager` traces the same graph and leaves Inductor out."""
    return torch.compile(step, backend="aot_eager")(*inputs())


def eager():
    return step(*inputs())
