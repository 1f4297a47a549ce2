"""Inductor compiles Triton kernels in helper processes. One of them fails, here
because the kernel forbids this block size, and its error comes back as text."""

import torch

REQUIRES = {"device": "cuda"}
ENVIRONMENT = {"TORCHINDUCTOR_COMPILE_THREADS": "2"}

try:
    import triton
    import triton.language as tl
except ImportError:  # a machine without a GPU
    triton = None

if triton is not None:

    @triton.jit
    def add_one_kernel(source, target, count, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK <= 64, "BLOCK must be 64 or less")
        index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = index < count
        value = tl.load(source + index, mask=inside)
        tl.store(target + index, value + 1, mask=inside)


def inputs():
    return (torch.arange(256.0, device="cuda"),)


def add_one(x, block):
    out = torch.empty_like(x)
    add_one_kernel[(x.numel() // block,)](x, out, x.numel(), BLOCK=block)
    return out


def message():
    from torch._inductor.async_compile import AsyncCompile

    AsyncCompile.wait_pool_ready()  # else the first kernel is compiled right here
    return torch.compile(add_one)(*inputs(), 128)


def fixed():
    """Use this when the last lines name an error in your own kernel: correct
    the kernel or its arguments."""
    return torch.compile(add_one)(*inputs(), 64)


def eager():
    return inputs()[0] + 1
