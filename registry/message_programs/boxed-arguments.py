"""A backend of one's own gives AOTAutograd a function that takes its arguments
one by one. AOTAutograd would rather pass one list, which it can empty early."""

import torch
from functorch.compile import make_boxed_func
from torch._functorch.aot_autograd import aot_module_simplified


def plain(graph, inputs):
    return graph.forward


def boxed(graph, inputs):
    return make_boxed_func(graph.forward)


def gradient(compiler):
    def backend(graph, inputs):
        return aot_module_simplified(graph, inputs, fw_compiler=compiler)

    x = torch.ones(4, requires_grad=True)
    torch.compile(lambda x: (x * x).sum(), backend=backend)(x).backward()
    return x.grad


def message():
    gradient(plain)


def fixed():
    """Use this when the backend is yours: wrap what the compiler returns."""
    return gradient(boxed)


def eager():
    x = torch.ones(4, requires_grad=True)
    (x * x).sum().backward()
    return x.grad
