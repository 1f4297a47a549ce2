"""`mutates_args` of a leaf function names a whole module. It must name the
tensors of the module that the function changes."""

import torch
from torch._dynamo.decorators import leaf_function


def count(model, x):
    model.seen.add_(1)
    return (x + model.seen,)


def fake(model, x):
    return (torch.empty_like(x),)


class Counter(torch.nn.Module):
    def __init__(self, mutates):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.count = leaf_function(count, mutates_args=mutates)
        self.count.register_fake(fake)

    def forward(self, x):
        return self.count(self, x)[0]


def message():
    torch.compile(Counter({"model"}), backend="aot_eager", fullgraph=True)(torch.ones(4))


def fixed():
    """Use this when the function changes a buffer or a parameter: name that tensor."""
    return torch.compile(Counter({"model.seen"}), backend="aot_eager", fullgraph=True)(torch.ones(4))


def eager():
    return torch.ones(4) + 1
