"""Dynamo was given a Python stand-in for a function, and the stand-in sets a
`nonlocal` variable. Dynamo doesn't know where that function came from, so it
couldn't write the new value back."""
import torch

total = torch.zeros((), dtype=torch.int64)


def halve(x):
    total.add_(1)
    return x / 2


def register():
    calls = 0

    @torch.compiler.substitute_in_graph(halve)
    def traced(x):
        nonlocal calls
        calls += 1
        total.fill_(calls)
        return x / 2


register()


def halve_again(x):
    total.add_(1)
    return x / 2


@torch.compiler.substitute_in_graph(halve_again)
def traced_again(x):
    total.add_(1)
    return x / 2


def inputs():
    return (torch.randn(4),)


def broken(x):
    return halve(x) + 1


def fixed(x):
    """Use this when the stand-in must count its calls. Keep the counter in a
    global tensor, which Dynamo finds by name. A new value doesn't make Dynamo
    compile again, as it would for an `int`."""
    return halve_again(x) + 1
