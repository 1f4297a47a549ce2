"""What it costs to be told of breaks, and which are told: explain beside torch's log, tlparse and depyf.

CPU time of compiling, each tool in a process of its own, with and without it in turn: so the ratio holds on a noisy
machine. What a tool needs to make its report is in its time.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import logging
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

REPEATS = 7
SEVEN = ROOT / "tests" / "repro_runner" / "fixtures" / "programs" / "seven.py"
TOOLS = {
    "explain": "`graphbreak explain`",
    "logs": "`TORCH_LOGS=graph_breaks`",
    "trace": "`TORCH_TRACE` and tlparse",
    "depyf": "depyf",
}
PROGRAMS = {"seven": "seven sites, eager", "wav2vec2": "Wav2Vec2, aot_eager"}
CALLS = 20_000


def main() -> None:
    """Print five tables; a child prints what it measured. `--places` prints only the last one."""
    if sys.argv[1:] == ["--places"]:
        print_places()
        return
    if sys.argv[1:]:
        print(json.dumps(CHILDREN[sys.argv[1]](*sys.argv[2:])))
        return
    print_found(print_cost())
    print_whole()
    print_steady_state()
    print_places()


def print_cost() -> dict[str, set[int]]:
    """And the lines of the seven-site program that each tool tells of."""
    measured = {(tool, program): _measure(tool, program) for program in PROGRAMS for tool in TOOLS}
    print(f"| compiling: CPU with, over without | {' | '.join(PROGRAMS.values())} |")
    print(f"|---|{'---|' * len(PROGRAMS)}")
    for tool, label in TOOLS.items():
        ratios = [measured[tool, program][0] for program in PROGRAMS]
        cells = [f"{statistics.median(some):.3f} ({min(some):.3f} to {max(some):.3f})" for some in ratios]
        print(f"| {label} | {' | '.join(cells)} |")
    return {label: measured[tool, "seven"][1] for tool, label in TOOLS.items()}


def _measure(tool: str, program: str) -> tuple[list[float], set[int]]:
    """The ratios, and the lines that the tool tells of."""
    with tempfile.TemporaryDirectory() as folder:
        child = _child("compile", tool, program, folder, **({"TORCH_TRACE": folder} if tool == "trace" else {}))
        plain, watched, lines = json.loads(child.stdout.splitlines()[-1])
        if tool == "logs":
            lines = _lines(child.stderr, r"in user code at [^\n]*seven\.py:(\d+)")
        if tool == "trace":
            parsing, told = _tlparse(folder)
            watched = [one + parsing for one in watched]
            lines = _lines(told, r"seven\.py:(\d+)")
    return [one / before for before, one in zip(plain, watched, strict=True)], set(lines)


def print_whole() -> None:
    """CPU of a whole process that compiles once, with the report that explain prints at its end, and without."""
    model = "from tests.repro_runner.fixtures import hugging_face_models as models\n"
    model += "models.run_compiled(models.build('wav2vec2'))\n"
    print(f"\n| a whole process, median of {REPEATS} | CPU s | with `graphbreak explain` | ratio |\n|---|---|---|---|")
    for program, text in (("seven", SEVEN.read_text("utf-8")), ("wav2vec2", model)):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "program.py")
            script.write_text(text, "utf-8")
            explain = ["-m", "repro_runner", "explain"]
            commands = [[sys.executable, *before, str(script)] for before in ([], explain)]
            took = [[_cpu_of(command) for command in commands] for _ in range(REPEATS)]
        plain, watched, ratio = (
            statistics.median(some) for some in zip(*((a, b, b / a) for a, b in took), strict=True)
        )
        print(f"| {PROGRAMS[program]} | {plain:.1f} | {watched:.1f} | {ratio:.2f} |", flush=True)


def _cpu_of(command: list[str]) -> float:
    """CPU seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = _environment(PYTHONPATH=str(ROOT))
    subprocess.run(command, capture_output=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _tlparse(folder: str) -> tuple[float, str]:
    """CPU seconds of parsing one compilation, and what the parsed trace tells.

    Its page of failures has the lines of frames that were given up; its artifacts have all.
    """
    (trace,) = Path(folder).glob("*.log")
    out = Path(folder, "out")
    seconds = _cpu_of(["tlparse", str(trace), "-o", str(out), "--no-browser"])
    told = "\n".join(path.read_text() for path in out.rglob("*graph_break_reason*"))
    return seconds / (REPEATS + 1), told  # the first round is in the trace, too


def _child(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=_environment(**variables))


def _environment(**variables: str) -> dict[str, str]:
    """Tools that are installed beside this Python are found."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", **variables}


def _lines(text: str, pattern: str) -> list[int]:
    return sorted({int(line) for line in re.findall(pattern, text)})


def compile_with(tool: str, program: str, folder: str) -> tuple[list[float], list[float], list[int]]:
    """In a child: CPU seconds of compiling without and with the tool, and the lines that it tells of."""
    work = _work(program)
    found: list[int] = []
    took: tuple[list[float], list[float]] = ([], [])
    with contextlib.redirect_stdout(io.StringIO()):
        for _ in range(REPEATS + 1):
            for times, watching in zip(took, (_unwatched(), WATCHING[tool](folder, found)), strict=True):
                gc.collect()  # what the round before left is not this one's
                started = time.process_time()
                with watching:
                    work()
                times.append(time.process_time() - started)
    # The first round imports what is imported on first use, the tool's own parts included.
    return took[0][1:], took[1][1:], sorted(set(found))


def _work(program: str) -> Callable[[], None]:
    import torch

    if program == "seven":
        from tests.repro_runner.fixtures.programs import seven

        model: Any = seven.model
        arguments: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((torch.ones(size),), {}) for size in (4, 5)]
        backend = "eager"
    else:
        from tests.repro_runner.fixtures.hugging_face_models import wav2vec2

        example = wav2vec2()
        model = example.model.eval()
        arguments = [((), dict(example.inputs))]
        backend = "aot_eager"

    def work() -> None:
        torch._dynamo.reset()
        compiled: Any = torch.compile(model, backend=backend)
        with torch.no_grad():
            for args, kwargs in arguments:
                compiled(*args, **kwargs)

    return work


@contextlib.contextmanager
def _unwatched() -> Iterator[None]:
    """Also in a process with TORCH_TRACE: torch looks for handlers of the trace each time."""
    from torch._logging._internal import trace_log

    handlers, trace_log.handlers = trace_log.handlers, []
    try:
        yield
    finally:
        trace_log.handlers = handlers


@contextlib.contextmanager
def _explaining(_folder: str, found: list[int]) -> Iterator[None]:
    from repro_runner.explain import explain

    with explain() as report:
        yield
    found += [site.line for site in report]


@contextlib.contextmanager
def _logging(_folder: str, _found: list[int]) -> Iterator[None]:
    from torch._logging._internal import set_logs

    set_logs(graph_breaks=True)
    try:
        yield
    finally:
        set_logs()


@contextlib.contextmanager
def _decompiling(folder: str, found: list[int]) -> Iterator[None]:
    import depyf

    with depyf.prepare_debug(folder):
        yield
    dumped = "\n".join(path.read_text() for path in Path(folder).rglob("*.py"))
    found += _lines(dumped, r"torch_dynamo_resume_in_(?!model_)\w+_at_(\d+)")


@contextlib.contextmanager
def _tracing(_folder: str, _found: list[int]) -> Iterator[None]:
    yield  # since the process began


WATCHING: dict[str, Callable[[str, list[int]], contextlib.AbstractContextManager[None]]] = {
    "explain": _explaining,
    "logs": _logging,
    "trace": _tracing,
    "depyf": _decompiling,
}


def print_found(told: dict[str, set[int]]) -> None:
    """Which of the seven lines each tool tells of; with fullgraph=True there is one error and then no more."""
    told.update({label: set(lines) for label, lines in json.loads(_child("found").stdout.splitlines()[-1]).items()})
    all_seven = told[TOOLS["explain"]]
    print("\n| of seven sites | found |\n|---|---|")
    for label, lines in told.items():
        print(f"| {label} | {len(lines & all_seven)} |")


def found_by_torch() -> dict[str, list[int]]:
    """In a child: what torch's own ways tell."""
    import torch

    from tests.repro_runner.fixtures.programs import seven

    with contextlib.redirect_stdout(io.StringIO()):
        explained: Any = torch._dynamo.explain(seven.model)(torch.ones(4))
        torch._dynamo.reset()
        try:
            torch.compile(seven.model, backend="eager", fullgraph=True)(torch.ones(4))
            error = ""
        except torch._dynamo.exc.Unsupported as raised:
            error = str(raised)
    reasons = [reason.user_stack[-1].lineno for reason in explained.break_reasons]
    return {
        "`torch._dynamo.explain`": reasons,
        "`fullgraph=True`, one run": _lines(error, r'seven\.py", line (\d+)')[:1],
    }


def print_steady_state() -> None:
    plain, counted = json.loads(_child("steady").stdout.splitlines()[-1])
    print(f"\n| a call with a break, median of {REPEATS}, {CALLS:,} calls each | µs |\n|---|---|")
    print(f"| compiled without explain | {plain:.3f} |\n| compiled and run inside explain | {counted:.3f} |")


def steady_state() -> tuple[float, float]:
    """In a child: microseconds of a call of the same function, compiled without and with a counter, in turn."""
    import torch

    from repro_runner.explain import explain

    source = "def step(x):\n    y = x + 1\n    torch._dynamo.graph_break()\n    return y * 2\n"

    def compiled() -> Callable[[Any], Any]:
        names: dict[str, Any] = {"torch": torch}
        exec(source, names)
        step: Callable[[Any], Any] = torch.compile(names["step"], backend="eager")
        return step

    x = torch.ones(4)
    plain = compiled()
    plain(x)
    took: tuple[list[float], list[float]] = ([], [])
    with explain():
        counted = compiled()
        counted(x)
        for _ in range(REPEATS):
            for times, step in zip(took, (plain, counted), strict=True):
                started = time.process_time()
                for _ in range(CALLS):
                    step(x)
                times.append((time.process_time() - started) / CALLS * 1e6)
    return statistics.median(took[0]), statistics.median(took[1])


def print_places() -> None:
    """Of the lines at which torch says, by its log or by an exception, that a graph ended: who names which.

    The programs are those with which the tests compare explain and torch's log, and the models, in training.
    """
    from tests.repro_runner.fixtures.hugging_face_captures import NAMES

    print("\n| lines where a graph ends | there are | explain | wrong | torch's log | wrong | tlparse | wrong |")
    print("|---|---|---|---|---|---|---|---|")
    small, models = f"{len(_scenarios())} small programs", f"{len(NAMES)} models, in training"
    for title, names in ((small, ("",)), (models, tuple(NAMES))):
        counts = [0, *(0, 0) * 3]
        for name in names:
            truth, explained, logged = (_places(_child("places", way, name)) for way in ("said", "explain", "log"))
            with tempfile.TemporaryDirectory() as folder:
                _child("places", "trace", name, TORCH_TRACE=folder)
                told = _tlparse(folder)[1]
            traced = {":".join(place) for place in re.findall(r"in user code at ([^\n:]+):(\d+)", told)}
            row = [len(truth)]
            for found in (explained, logged, traced):
                row += [len(found & truth), len(found - truth)]
            counts = [one + more for one, more in zip(counts, row, strict=True)]
        print(f"| {title} | {' | '.join(map(str, counts))} |", flush=True)


def _scenarios() -> list[Callable[[], object]]:
    from tests.repro_runner.explain.test_torchs_log import SCENARIOS

    return SCENARIOS


def _places(child: subprocess.CompletedProcess[str]) -> set[str]:
    return set(json.loads(child.stdout.splitlines()[-1]))


_WARNED = re.compile(r"WON'T CONVERT \S+ (\S+) line (\d+)|function: '[^'\n]*' \(([^()\n]+):(\d+)\)")


@contextlib.contextmanager
def _warnings() -> Iterator[list[str]]:
    """What Dynamo warns of meanwhile."""
    texts: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: texts.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("torch._dynamo")
    logger.addHandler(handler)
    try:
        yield texts
    finally:
        logger.removeHandler(handler)


def _is_of_torch(error: BaseException) -> bool:
    """An error inside of Dynamo may have any class; torch then adds the user's frames to its text."""
    return type(error).__module__.startswith("torch.") or "from user code:" in str(error)


def _place_of_error(error: BaseException) -> list[tuple[str, int]]:
    """The user's line that an exception names; if it names none, the line that called what failed."""
    named = re.findall(r'File "([^"]+)", line (\d+)', str(error))[-1:]
    calls = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.name not in ("attempt",)]
    return [(file, int(line)) for file, line in named] or [(calls[0].filename, calls[0].lineno or 0)]


def places_told(way: str, model: str) -> list[str]:
    """In a child: `file:line` of every place that one of the ways names."""
    from functools import partial

    import torch

    from repro_runner.explain import explain
    from tests.repro_runner.explain.test_torchs_log import train
    from tests.repro_runner.explain.torchs_log import places_in_log

    told: set[tuple[str, int]] = set()
    with contextlib.redirect_stdout(io.StringIO()):
        for run in [partial(train, model)] if model else _scenarios():
            torch._dynamo.reset()
            error: list[BaseException] = []

            def attempt(run: Callable[[], object] = run, error: list[BaseException] = error) -> None:
                try:
                    run()
                except Exception as raised:  # noqa: BLE001 - some of them are made to fail
                    error.append(raised)

            if way == "explain":
                with explain() as report:
                    attempt()
                told |= {(site.file, site.line) for site in report}
                continue
            with _warnings() as warned:
                told |= set(places_in_log(attempt))
            if way == "said":
                told |= {
                    (found[1] or found[3], int(found[2] or found[4]))
                    for text in warned
                    for found in _WARNED.finditer(text)
                }
                told |= {place for one in error if _is_of_torch(one) for place in _place_of_error(one)}
    return sorted(f"{file}:{line}" for file, line in told)


CHILDREN: dict[str, Callable[..., Any]] = {
    "compile": compile_with,
    "found": found_by_torch,
    "steady": steady_state,
    "places": places_told,
}

if __name__ == "__main__":
    main()
