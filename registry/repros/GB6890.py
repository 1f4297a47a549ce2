"""A `torch.Stream` is a dict key. It has a hash of its own, and Dynamo's
stand-in for streams has no rule to compute it."""
import torch

STREAM = torch.Stream(device="cpu")


def inputs():
    return (torch.randn(8),)


def broken(x):
    results = {STREAM: x.sin()}
    return results[STREAM]


def fixed(x):
    """Use this when the keys only have to tell your streams apart. Give each
    stream a name of your own, and use that as the key."""
    results = {"main": x.sin()}
    return results["main"]
