"""The function creates an `object()`, mostly as a mark for "nothing was
found". Helpers of Python do that, too: `Counter.most_common` is one."""
import torch

TITLE = "object() as a mark"
MISSING = object()


def inputs():
    return torch.randn(8), {"scale": float(torch.rand(()))}


def broken(x, settings):
    missing = object()
    scale = settings.get("scale", missing)
    return x if scale is missing else x * scale


def fixed(x, settings):
    """Use this when all calls can share one mark. Create it once, outside the
    function."""
    scale = settings.get("scale", MISSING)
    return x if scale is MISSING else x * scale
