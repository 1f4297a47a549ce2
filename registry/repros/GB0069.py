"""The function imports an optional package that is not installed. Dynamo
does the import while it traces and gives up when it fails, even though the
`except ImportError` is there."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        import fast_tensor_ops as ops
    except ImportError:
        ops = torch
    return ops.sin(x)


try:
    import fast_tensor_ops as found
except ImportError:
    found = torch


def fixed(x):
    """Use this when you can try the import once, at the top of the file. That
    is outside the compiled function, which then uses the result."""
    return found.sin(x)
