"""An operator gets tensors on two devices: weights on `meta`, there for their
shape only, and data on the CPU. Eager accepts this one; Dynamo checks it."""
import torch

WEIGHT = torch.empty(3, 4, device="meta")


def inputs():
    return (torch.randn(4),)


def broken(x):
    rows = torch.einsum("ij,j->i", WEIGHT, x).shape[0]
    return x.sum().repeat(rows)


def fixed(x):
    """Use this when a tensor can move to the device of the others. Bring all
    tensors to one device before the operator."""
    rows = torch.einsum("ij,j->i", WEIGHT, x.to("meta")).shape[0]
    return x.sum().repeat(rows)
