"""A registered container puts an object of another class into its context, the
part that must be constant. Dynamo doesn't know how to make a constant of it,
so it can't give the container to a function marked `nonstrict_trace`."""
import torch


class Unit:
    def __init__(self, factor):
        self.factor = factor


class ConstantUnit(Unit):
    def __eq__(self, other):
        return self.factor == other.factor

    def __hash__(self):
        return hash(self.factor)


class Length:
    def __init__(self, value, unit):
        self.value, self.unit = value, unit


class FlatLength(Length):
    pass


torch.utils._pytree.register_pytree_node(
    Length,
    lambda length: ([length.value], length.unit),
    lambda values, unit: Length(*values, unit),
)
torch.utils._pytree.register_pytree_node(
    FlatLength,
    lambda length: ([length.value], length.unit.factor),
    lambda values, factor: FlatLength(*values, Unit(factor)),
)
torch.utils._pytree.register_constant(ConstantUnit)
inch = Unit(2.54)
constant_inch = ConstantUnit(2.54)


@torch._dynamo.nonstrict_trace
def centimetres(length):
    return length.value * length.unit.factor


def inputs():
    return (torch.randn(8),)


def broken(x):
    return centimetres(Length(x, inch))


def fixed(x):
    """Use this when you can change the container. Let its flatten function put
    only simple values into the context, such as numbers and strings."""
    return centimetres(FlatLength(x, inch))


def fixed_constant(x):
    """Use this when the container must stay and the object never changes. Give
    the object's class `__eq__` and `__hash__`, and register it as a
    constant."""
    return centimetres(Length(x, constant_inch))
