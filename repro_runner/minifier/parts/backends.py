"""Does a backend still fail: raise, take the process with it, never end, or compute something else?

A script has the one check that it needs, with what that calls.
"""

from __future__ import annotations

import multiprocessing
import re
import signal
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_leaves


def results(function: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    """What it returns, what it leaves of its arguments and, if something requires grad, their gradients."""
    torch.manual_seed(0)
    returned = [value for value in tree_leaves(function(*arguments)) if isinstance(value, torch.Tensor)]
    found = {f"output {index}": value for index, value in enumerate(returned)}
    found |= {f"argument {index} afterwards": value for index, value in enumerate(arguments)}
    outputs = [value for value in returned if value.requires_grad]
    leaves = [value for value in arguments if value.requires_grad]
    if outputs and leaves:
        torch.manual_seed(1)
        weights = [torch.randn(value.shape, dtype=torch.float64).to(value) for value in outputs]
        gradients = torch.autograd.grad(outputs, leaves, weights, allow_unused=True)
        found |= {f"gradient {index}": value for index, value in enumerate(gradients) if value is not None}
    for value in found.values():
        if value.layout == torch.strided:
            value.detach().reshape(-1)[:1].cpu()  # a GPU tells what went wrong only when something is read
    return {name: value.detach() for name, value in found.items()}


def error_text(error: BaseException) -> str:
    """Class and first line of what the backend raised; Dynamo wraps it."""
    inner = getattr(error, "inner_exception", error)
    lines = str(inner).strip().splitlines() or [""]
    return f"{type(inner).__name__}: {lines[0][:400]}"


def plain(message: str) -> str:
    """A message without what differs from run to run: sizes, addresses, numbers at the end of names."""
    return re.sub(r"0x[0-9a-fA-F]+|[\[(][\d,\s]*[\])]|_?\d+", "", message)


def compile_whole(function: Callable[..., Any], backend: Any) -> Callable[..., Any]:
    return torch.compile(function, backend=backend, fullgraph=True, dynamic=False)


def check_compilation(
    function: Callable[..., Any],
    inputs: Callable[[], tuple[Any, ...]],
    backend: Callable[[], Any],
    expected: str,
) -> tuple[int, str]:
    try:
        results(function, inputs())
        results(compile_whole(function, "eager"), inputs())
    except Exception as error:  # noqa: BLE001 - eager or Dynamo may raise anything
        return 3, f"without the backend, too, it raises {error_text(error)}"
    try:
        results(compile_whole(function, backend()), inputs())
    except Exception as error:  # noqa: BLE001 - a backend may raise anything
        return 1 if plain(error_text(error)) == plain(expected or error_text(error)) else 3, error_text(error)
    return 0, "it compiles and runs"


def run(
    function: Callable[..., Any], inputs: Callable[[], tuple[Any, ...]], backend: Callable[[], Any] = lambda: "eager"
) -> None:
    results(compile_whole(function, backend()), inputs())


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
    without = end_of(run, function, inputs, seconds=seconds)
    if without != fine:
        return 3, f"without the backend, too, it {without}"
    compiled = end_of(run, function, inputs, backend, seconds=seconds)
    return {expected: 1, fine: 0}.get(compiled, 3), f"compiled, it {compiled}"


def widened(value: Any) -> Any:
    """A copy of a tensor in float64 or complex128, if it is rounded at all; what is no tensor as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    wide = torch.float64 if value.is_floating_point() else torch.complex128 if value.is_complex() else value.dtype
    return value.detach().to(wide, copy=True)


def in_float64(function: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, torch.Tensor]:
    """What comes nearest to the truth; nothing, if the program insists on its dtypes."""
    wide = [widened(each) for each in arguments]
    try:
        return results(
            function,
            tuple(each.requires_grad_(own.requires_grad) for each, own in zip(wide, arguments, strict=True)),
        )
    except Exception:  # noqa: BLE001 - any op may refuse
        return {}


def is_rounding(eager: torch.Tensor, compiled: torch.Tensor, exact: torch.Tensor) -> bool:
    """Whether the backend has what float64 gives; or eager, itself near to that, is hardly nearer than the backend."""
    if not eager.shape == compiled.shape == exact.shape or eager.dtype != compiled.dtype or not exact.numel():
        return False
    try:
        torch.testing.assert_close(compiled, exact.to(eager.dtype), equal_nan=True)
    except AssertionError:
        own, off = (torch.where(each == exact, 0.0, (each - exact).abs()).max() for each in (eager, compiled))
        rounded = exact.is_floating_point() or exact.is_complex()
        return rounded and bool(off <= 10 * own and own <= 0.05 * exact.abs().max())
    return True


def difference(
    eager: Mapping[str, torch.Tensor], compiled: Mapping[str, torch.Tensor], exact: Mapping[str, torch.Tensor]
) -> str:
    """The first tensor that is not close, in words; empty when all are, but for rounding."""
    for name, expected in eager.items():
        try:
            torch.testing.assert_close(compiled[name], expected, equal_nan=True)
        except (AssertionError, KeyError) as error:
            if not (name in exact and name in compiled and is_rounding(expected, compiled[name], exact[name])):
                return f"{name}: " + "; ".join(line for line in str(error).splitlines() if line)
    return ""


def check_numerics(
    function: Callable[..., Any], inputs: Callable[[], tuple[Any, ...]], backend: Callable[[], Any]
) -> tuple[int, str]:
    eager = results(function, inputs())
    if unstable := difference(eager, results(compile_whole(function, "eager"), inputs()), {}):
        return 3, f"without the backend, too, a second run differs: {unstable}"
    compiled = results(compile_whole(function, backend()), inputs())
    found = difference(eager, compiled, in_float64(function, inputs()))
    return (1, found) if found else (0, "the same as eager, but for rounding")
