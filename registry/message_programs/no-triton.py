"""Inductor writes Triton code for a GPU, so it needs the package triton. The
program hides the package, as if it were not installed."""

import sys

import torch

REQUIRES = {"device": "cuda"}


def inputs():
    return (torch.arange(6.0, device="cuda"),)


def step(x):
    return x * 2 + 1


def message():
    sys.modules["triton"] = None  # from now on `import triton` fails
    return torch.compile(step)(*inputs())
