"""The module has an attribute that tells Dynamo to treat it as unchanging, but
changes in `forward`. Dynamo starts over to treat it as changeable, reads the
attribute again, and so on; after 100 attempts it gives up."""
import torch

REACH = "private"


class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x.sin()


class Rigid(Counted):
    torchdynamo_force_dynamic = False


COUNTED, RIGID = Counted(), Rigid()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return RIGID(x)


def fixed(x):
    """Leave the attribute out: by default Dynamo traces such modules."""
    return COUNTED(x)
