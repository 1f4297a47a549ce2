"""A graph break inside a `with` block of your own context manager class.
Dynamo would have to leave and enter it again around the break, which it does
only for context managers that it knows, so it gives up on the function."""
import torch


class Section:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def inputs():
    return (torch.randn(8),)


def broken(x):
    with Section():
        peak = x.abs().max().item()
        x = x / peak
    return x.cos()


def fixed(x):
    """Mend the break inside the block; Dynamo names that one, too. Here the
    peak can stay a tensor, so `item` isn't needed."""
    with Section():
        peak = x.abs().max()
        x = x / peak
    return x.cos()
