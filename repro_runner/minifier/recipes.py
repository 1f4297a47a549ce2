"""How to make a tensor again: drawn from a seed with the same shape, dtype and strides, or read from a file."""

from __future__ import annotations

import torch

from repro_runner.torch_seams import FakeTensor

_DRAWN_AS_IT_IS = {torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128}
_LOADABLE = ("cpu", "cuda")
_INTEGERS = {torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8}


def copy_of(tensor: torch.Tensor) -> torch.Tensor:
    """A new leaf with the same values, strides and requires_grad. (`clone` would write out what `expand` repeats.)"""
    if tensor.layout != torch.strided:
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)
    memory = tensor.detach().as_strided((_reach(tensor),), (1,)).clone()
    return memory.as_strided(tensor.size(), tensor.stride()).requires_grad_(tensor.requires_grad)


def loadable(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor where torch.load can put it without help: it does not know devices of others."""
    return tensor if tensor.device.type in _LOADABLE else tensor.cpu()


def moved(tensor: torch.Tensor) -> str:
    """The suffix that moves what `loadable` returned back to the tensor's device."""
    return "" if tensor.device.type in _LOADABLE else f'.to("{tensor.device.type}")'


def can_be_drawn(tensor: torch.Tensor) -> bool:
    """Whether `drawn` knows how; a sparse or a quantised tensor goes into a file."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter, FakeTensor)
        and tensor.layout == torch.strided
        and not tensor.is_quantized
    )


def drawn(tensor: torch.Tensor) -> str:
    """An expression: `torch.randn(4, 6)`. Integers keep their range, since they may be indices; what is never negative
    (a variance, a probability) stays so. Where there are no values, integers are 0, and no number is negative."""
    dense = tensor.is_contiguous()
    size = ", ".join(map(str, tensor.shape)) if dense else str(_reach(tensor))
    shape = f"({size},)" if tensor.dim() == 1 or not dense else f"({size})"
    if tensor.dtype is torch.bool:
        expression = f"torch.randint(0, 2, {shape}{_device(tensor)}).bool()"
    elif not (tensor.is_floating_point() or tensor.is_complex()):
        expression = _integers(tensor, shape)
    else:
        expression = _floats(tensor, size or shape)
    strided = "" if dense else f".as_strided({tuple(tensor.shape)}, {tuple(tensor.stride())})"
    return f"{expression}{strided}{with_grad(tensor)}"


def with_grad(tensor: torch.Tensor) -> str:
    """The suffix that makes an expression a leaf that collects a gradient; empty if the tensor is not one."""
    return ".requires_grad_()" if tensor.requires_grad else ""


def _integers(tensor: torch.Tensor, shape: str) -> str:
    low, high = 0, 1
    if tensor.numel() and not isinstance(tensor, FakeTensor):
        values = tensor.detach().to(torch.int64)
        low, high = int(values.min()), int(values.max()) + 1
    if tensor.dtype in _INTEGERS:
        return f"torch.randint({low}, {high}, {shape}, dtype={tensor.dtype}{_device(tensor)})"
    return f"torch.randint({low}, {high}, {shape}{_device(tensor)}).to({tensor.dtype})"


def _floats(tensor: torch.Tensor, size: str) -> str:
    never_negative = not tensor.is_complex() and (
        isinstance(tensor, FakeTensor) or (bool(tensor.numel()) and bool((tensor.detach().double() >= 0).all()))
    )
    function = "torch.rand" if never_negative else "torch.randn"
    if tensor.dtype not in _DRAWN_AS_IT_IS:
        return f"{function}({size}{_device(tensor)}).to({tensor.dtype})"
    dtype = "" if tensor.dtype is torch.float32 else f", dtype={tensor.dtype}"
    return f"{function}({size}{dtype}{_device(tensor)})"


def _device(tensor: torch.Tensor) -> str:
    return "" if tensor.device.type == "cpu" else f', device="{tensor.device.type}"'


def _reach(tensor: torch.Tensor) -> int:
    """How many elements of memory the tensor spans."""
    if not tensor.numel():
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
