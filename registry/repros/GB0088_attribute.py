"""A module has no such attribute. You meet this with layers that only some
settings create, and with misspelled names."""
import torch

TITLE = "A missing attribute"
EAGER_RAISES = "AttributeError"


class Net(torch.nn.Module):
    def __init__(self, *, bias=False):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(8))
        if bias:
            self.bias = torch.nn.Parameter(torch.ones(8))

    def forward(self, x):
        return x * self.weight + self.bias


class FixedNet(torch.nn.Module):
    def __init__(self, *, bias=False):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(8))
        self.bias = torch.nn.Parameter(torch.ones(8)) if bias else None

    def forward(self, x):
        y = x * self.weight
        return y if self.bias is None else y + self.bias


net = Net()
fixed_net = FixedNet()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return net(x)


def fixed(x):
    """Use this when the layer is optional. Always create the attribute, with
    `None` where there is no layer, and test for that."""
    return fixed_net(x)
