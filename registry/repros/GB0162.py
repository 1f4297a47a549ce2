"""The constructor of a module is called again to bring the module back to its
first state. Dynamo runs `nn.Module.__init__` only for a module that it is just
creating."""
import torch


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.reset()

    def reset(self):
        self.factor = 2

    def forward(self, x):
        return x * self.factor


SCALE = Scale()


def inputs():
    SCALE.factor = 5
    return (torch.randn(8),)


def broken(x):
    SCALE.__init__()
    return SCALE(x)


def fixed(x):
    """Use this when only your own attributes have changed. Set them in a
    method that the constructor calls too, and call that method."""
    SCALE.reset()
    return SCALE(x)
