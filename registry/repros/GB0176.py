"""A module has a buffer and a property of the same name. Python takes the
property, which is `None`; Dynamo takes the buffer, and `id` finds no tensor
behind it. `torchdynamo_force_dynamic = False` makes Dynamo treat the module
as in a strict export."""
import torch

REACH = "private"
REQUIRES = {"release": "<2.13"}


class Net(torch.nn.Module):
    torchdynamo_force_dynamic = False

    def __init__(self, name):
        super().__init__()
        self._buffers[name] = torch.ones(8)

    @property
    def mask(self):
        return None

    def forward(self, x):
        return x.sin(), id(self.mask) == id(x)


class RenamedNet(Net):
    def forward(self, x):
        return x.sin(), self.mask is x


NET, RENAMED_NET = Net("mask"), RenamedNet("saved_mask")


def inputs():
    return (torch.randn(8),)


def broken(x):
    return NET(x)


def fixed(x):
    """Use this when a property hides a buffer. Give the buffer a name of its
    own. To ask if two names mean the same object, use `is`."""
    return RENAMED_NET(x)
