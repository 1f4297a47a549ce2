"""A method asks `hasattr(super(), ...)` before it calls the method of its
parent. You meet this in mixins, which don't know what their parent has."""
import torch

TITLE = "hasattr(super(), ...)"


class Doubling(torch.nn.Module):
    def forward(self, x):
        if hasattr(super(), "prepare"):
            x = super().prepare(x)
        return x * 2


class Base(torch.nn.Module):
    def prepare(self, x):
        return x


class FixedDoubling(Base):
    def forward(self, x):
        return super().prepare(x) * 2


class ClassDoubling(torch.nn.Module):
    def forward(self, x):
        if hasattr(torch.nn.Module, "prepare"):
            x = super().prepare(x)
        return x * 2


net = Doubling()
fixed_net = FixedDoubling()
class_net = ClassDoubling()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return net(x)


def fixed(x):
    """Use this when you own the classes. Give them a base whose method returns
    its input unchanged, so that there is nothing to check."""
    return fixed_net(x)


def fixed_class(x):
    """Use this when there is only one parent. Name its class in `hasattr`,
    instead of `super()`."""
    return class_net(x)
