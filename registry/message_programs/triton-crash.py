"""A Triton kernel takes a block so large that it does not fit into the GPU's
shared memory. Triton refuses to run it."""

import torch

REQUIRES = {"device": "cuda"}

try:
    import triton
    import triton.language as tl
except ImportError:  # a machine without a GPU
    triton = None

if triton is not None:

    @triton.jit
    def product_kernel(
        left,
        right,
        out,
        ROWS: tl.constexpr,
        COLUMNS: tl.constexpr,
        INNER: tl.constexpr,
        BLOCK: tl.constexpr,
    ):
        rows = tl.arange(0, ROWS)
        columns = tl.arange(0, COLUMNS)
        total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
        for start in range(0, INNER, BLOCK):
            inner = start + tl.arange(0, BLOCK)
            a = tl.load(left + rows[:, None] * INNER + inner[None, :])
            b = tl.load(right + inner[:, None] * COLUMNS + columns[None, :])
            total += tl.dot(a, b)
        tl.store(out + rows[:, None] * COLUMNS + columns[None, :], total)


def inputs():
    numbers = torch.arange(64 * 1024, device="cuda").remainder(3).half()
    return numbers.reshape(64, 1024), numbers.reshape(1024, 64)


def multiply(left, right, block):
    out = torch.empty(64, 64, device="cuda")
    product_kernel[(1,)](left, right, out, ROWS=64, COLUMNS=64, INNER=1024, BLOCK=block)
    return out


def message():
    return torch.compile(multiply)(*inputs(), 1024)


def fixed():
    """Use this when the kernel is yours: take smaller blocks (or fewer
    `num_stages`)."""
    return torch.compile(multiply)(*inputs(), 64)


def eager():
    left, right = inputs()
    return left.float() @ right.float()
