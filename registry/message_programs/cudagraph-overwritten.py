"""With CUDA graphs every call writes its result to the same memory. The program
keeps the results of three calls, and reads the first after it was overwritten."""

import torch

REQUIRES = {"device": "cuda"}


def inputs():
    return [torch.full((8,), float(i), device="cuda") for i in range(3)]


def double(x):
    return x * 2


def message():
    compiled = torch.compile(double, mode="reduce-overhead")
    results = [compiled(x) for x in inputs()]
    return torch.stack(results)


def fixed():
    """Use this when you keep a result longer than until the next call: copy it
    with `clone()` outside the compiled function."""
    compiled = torch.compile(double, mode="reduce-overhead")
    results = [compiled(x).clone() for x in inputs()]
    return torch.stack(results)


def fixed_without_cudagraphs():
    """Use this when you can't say where results are kept: leave CUDA graphs
    out. Then each call has its own memory."""
    compiled = torch.compile(double)
    results = [compiled(x) for x in inputs()]
    return torch.stack(results)


def eager():
    return torch.stack([double(x) for x in inputs()])
