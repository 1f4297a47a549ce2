"""Each block of a model is compiled by itself, and each has a number of its
own. All blocks run the same `forward`, so their versions count together."""
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
    """Compile the whole model: it is one graph then, and one version."""
    for block in blocks:
        x = block(x)
    return x


@skip
def fixed_limit(x):
    """You want one version per block: raise the limit to the number of blocks.
    Each version costs a compilation."""
    for block in blocks:
        x = block(x)
    return x


@skip
def fixed_flag(x):
    """One version shall serve all blocks: with this flag an `int` attribute of
    a module is a variable."""
    for block in blocks:
        x = block(x)
    return x
