"""The module has an attribute that tells Dynamo to treat it as unchanging, but
changes in `forward`. Dynamo starts over to treat it as changeable, reads the
attribute again, and so on; after 100 attempts it gives up."""
import torch

REACH = "private"


class Sine(torch.nn.Module):
    def forward(self, x):
        self.length = len(x)
        return x.sin()


class Rigid(Sine):
    torchdynamo_force_dynamic = False


SINE = Sine()
RIGID = Rigid()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return RIGID(x)


def fixed(x):
    """Use this when the module changes itself in `forward`. Leave the
    attribute out: by default Dynamo traces such modules."""
    return SINE(x)
