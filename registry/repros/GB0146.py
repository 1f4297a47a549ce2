"""The program asks an event how much time has passed. Dynamo knows the
methods `wait`, `record`, `synchronize`, and `query`, and no other."""
import torch
from torch._dynamo.device_interface import get_interface_for_device

REACH = "private"
NO_FIX = "a duration is known only once the work is done, not while tracing"

# `torch.Event` needs an accelerator to measure time; this subclass doesn't.
Event = get_interface_for_device("cpu").Event
start, end = Event(), Event()
start.record()
end.record()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin(), start.elapsed_time(end) >= 0


@torch.compiler.disable
def elapsed():
    return start.elapsed_time(end)


def isolated(x):
    """The number is needed here: keep the one call out of the graph."""
    return x.sin(), elapsed() >= 0
