"""One compiled function gets ten parameters of different shapes, as in an
optimizer of your own. Dynamo takes the shape of a parameter for a constant, so
each parameter costs a version, and after eight Dynamo gives up."""
import torch

PARAMETERS = [torch.nn.Parameter(torch.ones(n)) for n in range(2, 12)]


def shrink(weight):
    return weight * 0.9


def message():
    compiled = torch.compile(shrink, backend="eager")
    return tuple(compiled(weight).detach() for weight in PARAMETERS)


def fixed():
    """Use this when parameters of many shapes go through the same code: lets
    Dynamo make their sizes dynamic. In your program, set
    `torch._dynamo.config.force_parameter_static_shapes = False` at the top."""
    with torch._dynamo.config.patch(force_parameter_static_shapes=False):
        compiled = torch.compile(shrink, backend="eager")
        return tuple(compiled(weight).detach() for weight in PARAMETERS)


def fixed_detach():
    """Use this when the function needs no gradient of the parameter: a detached
    parameter is an ordinary tensor, and its sizes become dynamic."""
    compiled = torch.compile(shrink, backend="eager")
    return tuple(compiled(weight.detach()) for weight in PARAMETERS)


def eager():
    return tuple(shrink(weight).detach() for weight in PARAMETERS)
