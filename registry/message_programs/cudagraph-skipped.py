"""CUDA graphs are asked for, but the graph has a tensor on the CPU. It runs
without CUDA graphs and says why."""

import torch


def inputs():
    return (torch.arange(6.0),)


def step(x):
    return x.sin() + 1


def message():
    return torch.compile(step, backend="cudagraphs")(*inputs())


def fixed():
    """Use this when the model runs on the CPU: CUDA graphs can't help there, so
    do not ask for them (no `mode="reduce-overhead"`, no `cudagraphs` backend)."""
    return torch.compile(step)(*inputs())


def eager():
    return step(*inputs())
