"""A dict has no such key. You meet this with optional entries of a batch, and
with outputs of a model that are named differently."""
import torch

TITLE = "A missing key"
EAGER_RAISES = "KeyError"


def inputs():
    return ({"x": torch.randn(8)},)


def broken(batch):
    return batch["x"].exp() * batch["mask"]


def fixed(batch):
    """Use this when the entry is optional. Ask for it with `get`, and go on
    without it if it is missing."""
    y = batch["x"].exp()
    mask = batch.get("mask")
    return y if mask is None else y * mask
