"""Each block of a model is compiled separately, and each has its own number.
All blocks run the same `forward`, so their versions count together."""
import torch
from torch._dynamo.decorators import skip

TITLE = "Many layers of one class"
FLAGS = {
    "fixed_limit": {"recompile_limit": 12},
    "fixed_flag": {"allow_unspec_int_on_nn_module": True},
}


class Block(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return x + self.linear(x) / (self.index + 1)


blocks = torch.nn.ModuleList(Block(index) for index in range(12))


def inputs():
    return (torch.randn(2, 4),)


# `skip`: the loop is left to Python, and each block is compiled.
@skip
def broken(x):
    for block in blocks:
        x = block(x)
    return x


def fixed(x):
    """Use this when you can compile the whole model at once. It is then one
    graph, and one version."""
    for block in blocks:
        x = block(x)
    return x


@skip
def fixed_limit(x):
    """Use this when you want one version per block. Raise `recompile_limit` to
    the number of blocks. Each version costs a compilation."""
    for block in blocks:
        x = block(x)
    return x


@skip
def fixed_flag(x):
    """Use this when one version should serve all blocks. With the flag
    `allow_unspec_int_on_nn_module`, an `int` attribute of a module is a
    variable."""
    for block in blocks:
        x = block(x)
    return x
