"""A module assigns to one of its buffers and to a plain attribute, and then
lists its buffers. The assignments take effect only after the graph has run, so
Dynamo ends the graph before the list is made."""
import torch

LIMITS = {
    "fixed": {
        "size": "The buffer keeps its shape. Another one is an error.",
        "dtype": "The buffer keeps its dtype.",
    }
}


class Mean(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.mean = x.mean(0)
        self.size = len(x)
        return [buffer * 2 for buffer in self.buffers()]


class MeanInPlace(Mean):
    def forward(self, x):
        self.mean.copy_(x.mean(0))
        self.size = len(x)
        return [buffer * 2 for buffer in self.buffers()]


class MeanNamed(Mean):
    def forward(self, x):
        self.mean = x.mean(0)
        self.size = len(x)
        return [buffer * 2 for buffer in (self.mean,)]


mean = Mean()
mean_in_place = MeanInPlace()
mean_named = MeanNamed()


def inputs():
    return (torch.randn(8, 3),)


def broken(x):
    return mean(x)


def fixed(x):
    """Use this when the shape of the buffer stays the same. Write the new
    value into the buffer with `copy_`."""
    return mean_in_place(x)


def fixed_named(x):
    """Use this when there are few buffers. Name each one, instead of listing
    them with `buffers()`."""
    return mean_named(x)
