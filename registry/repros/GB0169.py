"""Dynamo was given a Python stand-in for a function, and the stand-in sets a
`nonlocal` variable. Dynamo doesn't know where that function came from, so it
couldn't write the new value back."""
import torch

counts = {"calls": 0}


def halve(x):
    return x / 2


def halve_counted(x):
    return x / 2


def register():
    calls = 0

    @torch.compiler.substitute_in_graph(halve)
    def traced(x):
        nonlocal calls
        calls += 1
        return x / 2

    @torch.compiler.substitute_in_graph(halve_counted)
    def traced_counted(x):
        counts["calls"] += 1
        return x / 2


register()


def inputs():
    return (torch.randn(4),)


def broken(x):
    return halve(x) + 1


def fixed(x):
    """Keep the counter in a global object; Dynamo finds that by name."""
    return halve_counted(x) + 1
