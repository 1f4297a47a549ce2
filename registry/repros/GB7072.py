"""The operator behind `flex_gemm`, a matrix product with a function fused into
it, got None in place of the dict of kernel options. Dynamo wants a dict, even
if it is empty."""
import torch
from torch._higher_order_ops.flex_gemm import flex_gemm

REACH = "private"
EAGER_RAISES = "RuntimeError"
REQUIRES = {"release": ">=2.14"}


def act(a, b):
    return torch.mm(a, b).relu()


def inputs():
    return torch.randn(4, 4), torch.randn(4, 4)


def broken(a, b):
    gemm = torch.ops.higher_order.flex_gemm
    mm = torch.ops.aten.mm.default
    return gemm(mm, act, (a, b), {}, None)


def fixed(a, b):
    """Use this when you have no options to pass. Call the function around the
    operator: there you may leave the options out."""
    return flex_gemm(torch.mm, (a, b), torch.relu)


def fixed_plain(a, b):
    """Use this when the compiler may choose the kernel. Write the product and
    the function after it as usual."""
    return torch.mm(a, b).relu()
