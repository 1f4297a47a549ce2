"""How close a call comes to what its device can do: against a plain copy and a large matmul, in the same process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from repro_runner.bench.document import Roofline
from repro_runner.bench.measuring import best_time, first_call, rounded
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.values import tensors_in

_LONG_ENOUGH_S = 0.02
"""For one call: what a device does in that time does not fit into its caches."""


def measure_roofline(subject: ModelUnderTest, call: Callable[[], Any], latency: float, device: str) -> Roofline:
    """What a plain copy and a large matmul reach now, and the shares of these that a call of `latency` seconds has."""
    dtype = _dtype(subject)
    moved = sum(each.nbytes for each in _weights(subject)) + _size((subject.args, dict(subject.kwargs)))
    with FlopCounterMode(display=False) as counted:
        moved += _size(call())
    copy, matmul = _copy_rate(device), _matmul_rate(device, dtype)
    flops = counted.get_total_flops()
    return {
        "dtype": str(dtype).removeprefix("torch."),
        "copy_bytes_per_s": copy,
        "matmul_flops_per_s": matmul,
        "bytes": moved,
        "flops": flops,
        "of_copy": rounded(moved / latency / copy),
        "of_matmul": rounded(flops / latency / matmul) if flops and matmul else None,
    }


def _weights(subject: ModelUnderTest) -> list[Tensor]:
    model = subject.model
    return [*model.parameters(), *model.buffers()] if isinstance(model, torch.nn.Module) else []


def _size(values: Any) -> int:
    return sum(each.nbytes for each in tensors_in(values))


def _dtype(subject: ModelUnderTest) -> torch.dtype:
    """That of most of its floating-point numbers: weights and inputs."""
    numbers = Counter[torch.dtype]()
    for each in [*_weights(subject), *tensors_in((subject.args, dict(subject.kwargs)))]:
        numbers[each.dtype] += each.numel() * each.is_floating_point()
    most = max(numbers, key=numbers.__getitem__, default=torch.float32)
    return most if most.is_floating_point else torch.float32


def _copy_rate(device: str) -> float:
    """Bytes per second, read and written."""

    def copying(size: int) -> Callable[[], Any]:
        source = torch.zeros(size, dtype=torch.uint8, device=device)
        target = torch.empty_like(source)
        return lambda: target.copy_(source)

    return _rate(copying, [2**power for power in range(24, 31)], lambda size: 2.0 * size, device)


def _matmul_rate(device: str, dtype: torch.dtype) -> float | None:
    """Operations per second; None if the device has no matmul of this dtype."""

    def multiplying(width: int) -> Callable[[], Any]:
        left = torch.ones(width, width, device=device).to(dtype)
        return lambda: left @ left

    try:
        return _rate(multiplying, [512, 1024, 2048, 4096, 8192], lambda width: 2.0 * width**3, device)
    except (RuntimeError, NotImplementedError):
        return None


def _rate(
    calls: Callable[[int], Callable[[], Any]], sizes: Sequence[int], amount: Callable[[int], float], device: str
) -> float:
    """The amount per second of the first size that takes long enough, so that a slow device does not take forever."""
    for size in sizes:
        call = calls(size)
        call()
        if first_call(call, device) > _LONG_ENOUGH_S or size == sizes[-1]:
            break
    return rounded(amount(size) / best_time(call, device))
