"""Inductor writes C++ for the CPU and calls your compiler. This compiler wants a
header that is not on the machine, so it stops with an error."""

import os
import stat
import tempfile

import torch
from torch._inductor import config


def inputs():
    return (torch.arange(6.0),)


def step(x):
    return x.sin() + 1


def message():
    path = os.path.join(tempfile.mkdtemp(), "my-g++")
    with open(path, "w") as script:
        script.write('#!/bin/sh\nexec g++ -include no-such-header.h "$@"\n')
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    with config.patch({"cpp.cxx": (None, path)}):
        return torch.compile(step)(*inputs())


def fixed():
    """Use this when another compiler on the machine works: name it in
    `torch._inductor.config.cpp.cxx`, or in the variable CXX."""
    with config.patch({"cpp.cxx": (None, "g++")}):
        return torch.compile(step)(*inputs())


def fixed_without_cpp():
    """Use this when no compiler works and you need your program to run today:
    `aot_eager` writes no C++."""
    return torch.compile(step, backend="aot_eager")(*inputs())


def eager():
    return step(*inputs())
