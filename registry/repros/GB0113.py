"""`super().bias` reads a class attribute whose value is 0. In torch 2.13
Dynamo takes every value that counts as false for a missing attribute."""
import torch


class Base:
    bias = 0


class Child(Base):
    bias = 3

    def forward(self, x):
        return x * self.bias + super().bias

    def forward_named(self, x):
        return x * self.bias + Base.bias


CHILD = Child()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return CHILD.forward(x)


def fixed(x):
    """Use this when you know which parent has the attribute. Name that class,
    and read the attribute from it."""
    return CHILD.forward_named(x)
