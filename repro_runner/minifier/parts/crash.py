"""Does the backend still take the whole process with it, or never come to an end?"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from typing import Any

import torch

from repro_runner.minifier.parts.running import results


def run(
    function: Callable[..., Any], inputs: Callable[[], tuple[Any, ...]], backend: Callable[[], Any] | None = None
) -> None:
    if backend is not None:
        function = torch.compile(function, backend=backend(), fullgraph=True, dynamic=False)
    results(function, inputs())


def end_of(work: Callable[..., Any], *arguments: Any, seconds: float) -> str:
    """How a process ends that does nothing but this."""
    process = multiprocessing.Process(target=work, args=arguments)
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        process.join()
        return f"took longer than {seconds:g} s"
    code = process.exitcode or 0
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def check_crash(
    function: Callable[..., Any],
    inputs: Callable[[], tuple[Any, ...]],
    backend: Callable[[], Any],
    expected: str,
    *,
    seconds: float,
) -> tuple[int, str]:
    fine = "ended with exit code 0"
    eager = end_of(run, function, inputs, seconds=seconds)
    if eager != fine:
        return 3, f"without the backend, too, it {eager}"
    compiled = end_of(run, function, inputs, backend, seconds=seconds)
    return {expected: 1, fine: 0}.get(compiled, 3), f"compiled, it {compiled}"
