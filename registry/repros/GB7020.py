"""A function is exported that asks whether a tensor shares its memory until
somebody writes to it ("copy on write"). The answer depends on the tensor, and
an exported graph has no place for it."""
import torch

REACH = "private"
EAGER_RAISES = "Unsupported"
REQUIRES = {"release": ">=2.14"}


def wave(x):
    return x.sin()


def wave_of_copy(x):
    return wave(x.clone() if torch._C._is_cow_tensor(x) else x)


@torch.compiler.disable
def export(x):
    return torch._dynamo.export(wave_of_copy)(x)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return export(x)


def fixed(x):
    """Use this when you can compile the function instead of exporting it.
    `torch.compile` guards on the answer. Or ask before you call what you
    export."""
    return wave_of_copy(x)
