"""The program takes the innermost torch function mode off the stack, to work
without it for a moment. There is none, and that is an error in eager too."""
import torch

REACH = "private"
EAGER_RAISES = "RuntimeError"


def inputs():
    return (torch.randn(8),)


def broken(x):
    mode = torch._C._pop_torch_function_stack()
    x = x.sin()
    torch._C._push_on_torch_function_stack(mode)
    return x


def fixed(x):
    """Use this when a block must run without any torch function mode. This
    turns all modes off, however many there are. Overrides by tensor subclasses
    are off there as well."""
    with torch._C.DisableTorchFunction():
        return x.sin()
