"""Inductor keeps compiled graphs in files. Here the files were emptied, as after
a crash or a full disk. Inductor says that it can't read them and compiles anew."""

import os

import torch
from torch._inductor.utils import fresh_cache


def inputs():
    return (torch.arange(6.0),)


def step(x):
    return x.sin() + 2


def message():
    with fresh_cache():
        torch.compile(step)(*inputs())
        saved = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "fxgraph")
        for folder, _, names in os.walk(saved):
            for name in names:
                open(os.path.join(folder, name), "wb").close()
        torch._dynamo.reset()
        return torch.compile(step)(*inputs())


def fixed():
    """Use this when the files are damaged or old: take an empty folder (set
    TORCHINDUCTOR_CACHE_DIR), or delete the old one."""
    with fresh_cache():  # an empty folder for this block
        return torch.compile(step)(*inputs())


def fixed_without_cache():
    """Use this when you do not trust the folder at all: compile without the
    files. Each start of the program then compiles everything."""
    with torch.compiler.config.patch(force_disable_caches=True):
        return torch.compile(step)(*inputs())


def eager():
    return step(*inputs())
