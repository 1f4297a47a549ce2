"""`uniform_` gets its lower limit by the name `from`. That is a keyword in
Python, so a graph with this call could not be written down as code."""
import torch
import torch._inductor.config

torch._inductor.config.fallback_random = True  # same numbers as eager

BOUNDS = {"from": -0.1, "to": 0.1}


def inputs():
    return (torch.randn(8),)


def broken(x):
    noise = torch.empty_like(x).uniform_(**BOUNDS)
    return x + noise


def fixed(x):
    """Use this when you pass the lower limit by name. Pass it by position
    instead."""
    noise = torch.empty_like(x).uniform_(BOUNDS["from"], to=BOUNDS["to"])
    return x + noise
