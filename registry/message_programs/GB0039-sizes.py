"""The compiled function meets inputs of ten lengths. `dynamic=False` asks for a
version of its own for each length, and after eight versions Dynamo gives up."""
import torch


def scale(x):
    return x.sin() * 2


def call_all(function):
    return tuple(function(torch.arange(2.0, n)) for n in range(4, 14))


def message():
    return call_all(torch.compile(scale, backend="eager", dynamic=False))


def fixed():
    """Use this when most sizes vary: `dynamic=True` compiles one version for
    all of them. It can be slower than a version made for one size."""
    return call_all(torch.compile(scale, backend="eager", dynamic=True))


def fixed_mark():
    """Use this when you know which dimension varies: mark it on each input. All
    other sizes stay constants."""
    compiled = torch.compile(scale, backend="eager")

    def marked(x):
        torch._dynamo.mark_dynamic(x, 0)
        return compiled(x)

    return call_all(marked)


def eager():
    return call_all(scale)
