"""A class attribute of a module is a list. Dynamo doesn't read that where it
treats the module as in a strict export, which the attribute
`torchdynamo_force_dynamic = False` asks for here."""
import torch

REACH = "private"


class DefaultNet(torch.nn.Module):
    scales = [1.0, 2.0]

    def forward(self, x):
        return x * self.scales[1]


class Net(DefaultNet):
    torchdynamo_force_dynamic = False


class InstanceNet(Net):
    def __init__(self):
        super().__init__()
        self.scales = [1.0, 2.0]


NET, INSTANCE_NET, DEFAULT_NET = Net(), InstanceNet(), DefaultNet()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return NET(x)


def fixed(x):
    """Use this when `torchdynamo_force_dynamic` must stay. Set the list in
    `__init__`, on the instance, where Dynamo reads it."""
    return INSTANCE_NET(x)


def fixed_default(x):
    """Use this when nothing needs the special treatment. Leave out
    `torchdynamo_force_dynamic`, and Dynamo reads the list where it is."""
    return DEFAULT_NET(x)
