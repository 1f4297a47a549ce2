"""The compiled function makes a profiler and stores it on an object that
outlives it. Dynamo ignores profilers made inside, so it has none to store."""
import torch

EFFECTS = {"fixed": "The model holds the profiler that was made outside, the same one after each call."}
PROFILER = torch.profiler.profile()


def inputs():
    return torch.nn.Module(), torch.randn(4)


def broken(model, x):
    model.profiler = torch.profiler.profile()
    return x.sin()


def fixed(model, x):
    """Use this when the object must hold a profiler. Make it outside, where
    you also start it. The compiled function may pass it on."""
    model.profiler = PROFILER
    return x.sin()
