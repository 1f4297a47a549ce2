"""`id` asks for the identity of a parameter that is made in the compiled code.
Dynamo looks for the real tensor, but there is none before the code runs."""
import torch

REQUIRES = {"release": "<2.13"}


def inputs():
    return torch.randn(8), bool(torch.rand(()) > 0.5)


def broken(x, tied):
    weight = torch.nn.Parameter(x)
    other = weight if tied else x
    return (weight if id(weight) == id(other) else weight + other).sin()


def fixed(x, tied):
    """Use this when you only ask if two names mean the same parameter. `is`
    does that."""
    weight = torch.nn.Parameter(x)
    other = weight if tied else x
    return (weight if weight is other else weight + other).sin()
