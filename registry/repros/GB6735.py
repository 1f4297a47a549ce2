"""`wrap_triton` takes a Triton kernel and nothing else. Here it is also given
the kernel's argument, which is an error in eager mode too."""
import torch

EAGER_RAISES = "TypeError"
NO_FIX = "the right call, `wrap_triton(kernel)[grid](...)`, needs Triton"


def kernel(x):
    return x


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch.library.wrap_triton(kernel, x)
