"""Ten layers share one compiled `forward`, and each holds an object of its own
that the code uses: here a function. Each layer needs a version of the code, and
after eight versions Dynamo gives up."""
import torch

ACTIVATIONS = [
    torch.sin, torch.cos, torch.tanh, torch.exp, torch.abs,
    torch.neg, torch.relu, torch.sigmoid, torch.square, torch.erf,
]


class Layer(torch.nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.activation = activation

    def forward(self, x):
        return self.activation(x)


def run(**options):
    x = torch.linspace(-1, 1, 8)
    for activation in ACTIVATIONS:
        layer = Layer(activation)
        layer.compile(backend="eager", **options)
        x = layer(x)
    return x


def message():
    return run()


def fixed():
    """Use this when each layer really needs its own version: allow more than
    there are layers. In your program, set `torch._dynamo.config.recompile_limit
    = 16` at the top, in the thread that calls the model."""
    with torch._dynamo.config.patch(recompile_limit=16):
        return run()


def fixed_argument():
    """Use this when only this model needs more versions, or several threads call
    it: torch 2.13 takes the limit as an argument, which holds in all threads."""
    return run(recompile_limit=16)


def eager():
    x = torch.linspace(-1, 1, 8)
    for activation in ACTIVATIONS:
        x = Layer(activation)(x)
    return x
