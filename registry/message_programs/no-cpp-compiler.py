"""Inductor needs a C++ compiler for code on the CPU. The variable CXX names one
that does not exist."""

import torch
from torch._inductor import config

ENVIRONMENT = {"CXX": "no-such-compiler"}


def inputs():
    return (torch.arange(6.0),)


def step(x):
    return x.cos() + 1


def message():
    return torch.compile(step)(*inputs())


def fixed():
    """Use this when a compiler is installed under another name or in another
    folder: name it in `torch._inductor.config.cpp.cxx`, or in CXX."""
    with config.patch({"cpp.cxx": (None, "g++")}):
        return torch.compile(step)(*inputs())


def fixed_without_cpp():
    """Use this when you can't install a compiler: `aot_eager` writes no C++."""
    return torch.compile(step, backend="aot_eager")(*inputs())


def eager():
    return step(*inputs())
