"""The call stands between the layers of a model, so that the compiler gets
many small graphs in place of a large one. People do this where compiling takes
too long."""
import torch

TITLE = "Between layers"

layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))


@torch.compiler.nested_compile_region
def run_layer(layer, x):
    return layer(x).relu()


def inputs():
    return (torch.randn(2, 4),)


def broken(x):
    with torch.no_grad():
        x = layers[0](x).relu()
        torch._dynamo.graph_break()
        x = layers[1](x).relu()
        torch._dynamo.graph_break()
        return layers[2](x).relu()


def fixed(x):
    """Use this when compiling takes too long. Mark what repeats with
    `nested_compile_region`. It is then compiled once and used for all
    layers."""
    with torch.no_grad():
        for layer in layers:
            x = run_layer(layer, x)
        return x


def fixed_plain(x):
    """Use this when compiling is fast enough now. Delete the calls."""
    with torch.no_grad():
        for layer in layers:
            x = layer(x).relu()
        return x
