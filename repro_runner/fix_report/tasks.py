"""The tasks of the children: measure a program, compare two runs, compute both arms of a branch, run a repro script.

A task gets JSON values and a folder for files that stay after the child ends. It returns JSON values. Each task runs in
its own child, so it does not restore what it changes in torch and Python.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import linecache
import os
import random
import runpy
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from repro_runner.capture import capture_breaks
from repro_runner.explain.program import ProgramToRun
from repro_runner.explain.running import run_program
from repro_runner.fix_report.patch_rules import is_allowed_setting
from repro_runner.fix_report.patches.branches import PROBE
from repro_runner.fix_report.share import NO_COUNT, measuring
from repro_runner.judge import MEMORY
from repro_runner.judge.comparing import Terms, call_differs, count_values, programs_differ, unsteady_paths
from repro_runner.judge.inputs import ROUNDED
from repro_runner.judge.leaves import Closeness
from repro_runner.judge.observation import Observation, load
from repro_runner.torch_seams import TorchDispatchMode, dynamo_config, inductor_config
from repro_runner.values import describe_tolerances


def warm_up() -> None:
    """Importing this module imports torch. Nothing may be computed here, because a fork after that would hang."""
    inductor_config.fallback_random = True  # else random numbers of generated kernels depend on where graphs break


def compare_runs(arguments: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """Compare what two runs of programs left in their folders. No code of the programs is loaded here.

    `again` is the folder of a second run of the first program: what differs between these is left out.
    """
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)
    expected, actual, again = (_read(arguments, name) for name in ("expected", "actual", "again"))
    assert expected is not None
    assert actual is not None
    closeness = Closeness(fused=not arguments["exact"], float_dtype=_dtype(double=arguments["double"]))
    terms = Terms(closeness=closeness, left_out=frozenset(arguments["left_out"]))
    own = None
    if again is not None:
        own = programs_differ(expected, again, terms, calls=arguments["calls"])
        terms = replace(terms, unsteady=unsteady_paths(expected, again, terms))
    found = programs_differ(expected, actual, terms, calls=arguments["calls"])
    changed = sorted(name for name, now in actual.replaced.items() if expected.replaced.get(name) != now)
    changed = [name for name in changed if not is_allowed_setting(name)]
    return {
        "differs": found.text if found else "",
        "aspect": found.aspect if found else "",
        "own": own.text if own else "",
        "replaced": changed,
        "values": count_values(expected, calls=arguments["calls"], unsteady=terms.unsteady),
        "all_values": count_values(expected, calls=arguments["calls"]),
        "strictness": _strictness(exact=arguments["exact"]),
    }


def compare_other_inputs(arguments: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """Compare what the functions of two programs do with inputs that the programs did not give them."""
    torch.set_default_dtype(torch.float32)
    expected, actual = (load(Path(arguments[name], "others.pt").read_bytes()) for name in ("expected", "actual"))
    closeness = Closeness(float_dtype=_dtype(double=arguments["double"]), ignored=frozenset({"stride"}))
    for call in expected.calls:
        other = actual.call(call.plan)
        large = "large" in call.plan.variation
        by_size = ROUNDED[_dtype(double=arguments["double"]), large] if call.plan.variation else 0.0
        terms = Terms(
            closeness=replace(closeness, by_size=by_size), left_out=frozenset({MEMORY, *arguments["left_out"]})
        )
        if other is None:
            return {"differs": "it does not end, or it ends the program", "plan": asdict(call.plan)}
        if found := call_differs(call, other, expected, actual, terms):
            return {"differs": found.text, "plan": asdict(call.plan)}
    return {"differs": "", "plan": {}}


def list_other_inputs(arguments: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """The other inputs that a program took: (number of the function, variation, gradients)."""
    seen = load(Path(arguments["expected"], "others.pt").read_bytes())
    taken = [call.plan for call in seen.calls if not call.failed]
    return {"others": [(str(plan.seed), plan.variation, plan.gradients) for plan in taken]}


def _read(arguments: dict[str, Any], name: str) -> Observation | None:
    return load(Path(arguments[name], "seen.pt").read_bytes()) if arguments[name] else None


def _dtype(*, double: bool) -> torch.dtype:
    return torch.float64 if double else torch.float32


def _strictness(*, exact: bool) -> str:
    """Describe how outputs are compared."""
    tolerances = describe_tolerances(fused=not exact)
    return f"types, shapes, strides and dtypes the same; floating-point values within {tolerances}"


def measure_program(arguments: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """Run the program, with `changes`, and measure it. Returns explain's report, and what was measured.

    With `ops`, op calls are counted, else times are measured.
    """
    if arguments["ops"] and not hasattr(TorchDispatchMode, "ignore_compile_internals"):
        return {"why_unknown": NO_COUNT}
    seed_all(0)
    inductor_config.fallback_random = arguments["ops"]  # the program's own kernels are measured
    with measuring(ops=arguments["ops"]) as meter, substituted(arguments["changes"]):
        report = run_program(program_of(arguments))
    return {"report": asdict(report), "share": meter.result(), "costs": meter.costs(), "seconds": meter.seconds}


def seed_all(seed: int) -> None:
    """Seed all random generators. If `seed` is not 0, it is also added to every seed that the program sets."""
    seeders: list[tuple[Any, str]] = [(random, "seed"), (torch, "manual_seed")]
    if (numpy := sys.modules.get("numpy")) is not None:
        seeders.append((numpy.random, "seed"))
    for owner, name in seeders:
        original = getattr(owner, name)
        original(seed)
        if seed:
            setattr(owner, name, _with_offset(original, seed))


def _with_offset(original: Callable[..., Any], by: int) -> Callable[..., Any]:
    def seed(value: Any = None, *args: Any, **kwargs: Any) -> Any:
        return original(value + by if isinstance(value, int) else value, *args, **kwargs)

    return seed


def program_of(arguments: Mapping[str, Any]) -> ProgramToRun:
    """The program in a task's arguments, which `asdict` and JSON have turned into plain values."""
    program = arguments["program"]
    return ProgramToRun(**{**program, "arguments": tuple(program["arguments"]), "compiled": tuple(program["compiled"])})


@contextmanager
def without_compiler() -> Iterator[None]:
    """Inside the block, torch.compile compiles nothing, as with TORCHDYNAMO_DISABLE=1."""
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    with dynamo_config.patch(disable=True):
        yield


@contextmanager
def substituted(changes: Mapping[str, str]) -> Iterator[None]:
    """Inside the block, running, importing or quoting one of these files uses the given text instead.

    The files are not changed, and bytecode is neither written nor used.
    """
    texts = {os.path.realpath(path): text for path, text in changes.items()}
    read_bytes, get_code = Path.read_bytes, importlib.machinery.SourceFileLoader.get_code

    def read_changed(path: Path) -> bytes:  # a script is read with this before it runs
        text = texts.get(os.path.realpath(path))
        return read_bytes(path) if text is None else text.encode()

    def get_changed_code(loader: Any, fullname: str) -> types.CodeType | None:
        text = texts.get(os.path.realpath(loader.path))
        if text is None:
            return get_code(loader, fullname)
        _quote(loader.path, text)
        code: types.CodeType = compile(text, loader.path, "exec", dont_inherit=True)
        return code

    with ExitStack() as undo:
        undo.callback(setattr, Path, "read_bytes", read_bytes)
        undo.callback(setattr, importlib.machinery.SourceFileLoader, "get_code", get_code)
        Path.read_bytes = read_changed  # type: ignore[method-assign, assignment]
        importlib.machinery.SourceFileLoader.get_code = get_changed_code  # type: ignore[method-assign, assignment]
        for path, text in changes.items():
            for name in {path, os.path.abspath(path), os.path.realpath(path)}:  # noqa: PTH100 - not the link's target
                _quote(name, text)
        yield


def _quote(name: str, text: str) -> None:
    """Make tracebacks quote the lines of the text. linecache never refreshes an entry without a time."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)


def run_repro(arguments: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """Run `script`. Returns the ids of the breaks that happened, and a text of what the script raised, if anything."""
    error = ""
    with capture_breaks(errors=True) as breaks:
        try:
            runpy.run_path(arguments["script"], run_name="__main__")
        except BaseException as raised:  # noqa: BLE001 - a user's function may raise anything
            error = f"{type(raised).__name__}: {raised}"[:500]
    return {"ids": list(dict.fromkeys(one.gb_id for one in breaks if one.happened)), "error": error}


@dataclass(slots=True)
class BranchSeen:
    """What a run of the program showed about a branch on a tensor."""

    calls: int = 0
    problem: str = ""
    """Why torch.where would not give the same; empty if it would."""
    gradients: bool = False
    """Whether gradients flow through it."""


def probe_branches(arguments: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """Run the program without the compiler, with `text` instead of `file`. Returns a BranchSeen by branch number."""
    seen: dict[int, BranchSeen] = {}
    setattr(builtins, PROBE, lambda number, *parts: probe_branch(seen.setdefault(number, BranchSeen()), *parts))
    with without_compiler(), substituted({arguments["file"]: arguments["text"]}):
        run_program(program_of(arguments))
    return {"branches": {number: asdict(one) for number, one in seen.items()}}


def probe_branch(
    seen: BranchSeen,
    condition: Callable[[], Any],
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
    tensors: Callable[[], tuple[Any, ...]],
) -> Any:
    """Return the value of the branch. The other arm is computed, too, and problems are noted in `seen`."""
    seen.calls += 1
    chosen = condition()
    first, second = (then, otherwise) if chosen else (otherwise, then)
    taken = first()
    seen.problem = seen.problem or _problem(chosen, taken, second, tensors)
    if isinstance(taken, torch.Tensor):
        seen.gradients |= taken.requires_grad
    return taken


def _problem(chosen: Any, taken: Any, second: Callable[[], Any], tensors: Callable[[], tuple[Any, ...]]) -> str:
    if not isinstance(chosen, torch.Tensor) or chosen.dtype is not torch.bool:
        return f"its condition is a {type(chosen).__name__}, not a tensor of truth values"
    try:
        other = second()
    except Exception as error:  # noqa: BLE001 - the branch may have been there to avoid just this
        return f"the arm that is not taken raises {type(error).__name__}"
    for arm in (taken, other):
        if type(arm) not in (torch.Tensor, torch.nn.Parameter):
            return f"an arm gives a {type(arm).__name__}, not a tensor"
    for name in ("dtype", "shape", "device", "requires_grad"):
        if (one := getattr(taken, name)) != (two := getattr(other, name)):
            return f"its arms differ in {name}: {one} and {two}"
    if taken.stride() != other.stride():
        return f"its arms differ in strides: {taken.stride()} and {other.stride()}"
    if chosen.dim() > taken.dim():
        return "its condition has more dimensions than its arms, and torch.where would give them to its result"
    if other.requires_grad and not _has_finite_gradients(other, tensors()):
        return "the arm that is not taken has a gradient that is not finite, and torch.where would hand it on"
    return ""


def _has_finite_gradients(other: torch.Tensor, tensors: tuple[Any, ...]) -> bool:
    wanted = [each for each in tensors if isinstance(each, torch.Tensor) and each.requires_grad]
    if not wanted:
        return True
    found = torch.autograd.grad(other.sum(), wanted, retain_graph=True, allow_unused=True)
    return all(bool(torch.isfinite(each).all()) for each in found if each is not None)
