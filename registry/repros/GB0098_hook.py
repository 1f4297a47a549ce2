"""A forward hook that records the output of a layer is marked with
`torch.compiler.disable`. The graph then ends at that layer, in the middle of
the model."""
import torch

TITLE = "A disabled hook"
PEAK = torch.zeros(())


def watch(module, args, output):
    PEAK.copy_(output.detach().abs().max())


def make_layer(hook):
    layer = torch.nn.Linear(8, 8)
    layer.register_forward_hook(hook)
    return layer


layer = make_layer(torch.compiler.disable(watch))
layer_fixed = make_layer(watch)


def inputs():
    return (torch.randn(2, 8),)


def broken(x):
    return layer(x).relu()


def fixed(x):
    """Use this when the hook uses only tensors (no `.item()`, no `print`).
    Register it as it is. Its operations become part of the graph."""
    return layer_fixed(x).relu()
