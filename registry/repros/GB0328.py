"""`torch.func.functional_call` runs a module with other weights. With
`inline_inbuilt_nn_modules` off, Dynamo keeps the weights inside of the graph,
where they can't be replaced."""
import torch

REACH = "config"
REQUIRES = {"release": ">=2.10,<2.12"}
CONFIG = {"inline_inbuilt_nn_modules": False}
FLAGS = {"fixed_flag": {"inline_inbuilt_nn_modules": True}}

layer = torch.nn.Linear(4, 4)


def inputs():
    return torch.randn(4), torch.randn(4, 4), torch.randn(4)


def broken(x, weight, bias):
    weights = {"weight": weight, "bias": bias}
    return torch.func.functional_call(layer, weights, (x,)).relu()


def fixed(x, weight, bias):
    """Use this when the module has a functional form. Call that with the
    weights."""
    return torch.nn.functional.linear(x, weight, bias).relu()


def fixed_flag(x, weight, bias):
    """Use this when you can set the flag. `inline_inbuilt_nn_modules` is on by
    default. It makes the weights inputs of the graph."""
    weights = {"weight": weight, "bias": bias}
    return torch.func.functional_call(layer, weights, (x,)).relu()
