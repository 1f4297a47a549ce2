"""Run a user's program in this process as `python SCRIPT ARGS` or `python -m MODULE ARGS` would, and watch it.

Child processes are watched, see processes.py. Threads are, too, and they are joined as Python does when it ends.
`atexit` handlers run later, after the report. If the program calls `os._exit`, the report is made before that.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures.thread import _threads_queues  # the one list of threads that wait for work until Python ends
from contextlib import ExitStack, contextmanager
from types import ModuleType, TracebackType
from typing import Any

from registry.errors import InvalidInput
from repro_runner.exit_codes import INTERRUPTED
from repro_runner.explain.compiling import CompileTarget, compiling_code, import_compiled, read_targets
from repro_runner.explain.find_sites import in_order
from repro_runner.explain.processes import saving_at_exit, watching_processes
from repro_runner.explain.program import MainModule, ProgramToRun, find_main
from repro_runner.explain.report import Report
from repro_runner.explain.site import Program
from repro_runner.explain.watching import breaks_allowed, explain

_WATCHERS = ("repro_runner.capture.recorder", "repro_runner.explain.watching")
"""The modules with wrappers around torch's functions."""


def run_program(
    program: ProgramToRun,
    *,
    leaving: Callable[[Report], int] | None = None,
    at_end: Callable[[ModuleType], None] = lambda _: None,
) -> Report:
    """Run a program until it ends or fails, and return the report. It does not raise what the program raises.

    If the program calls `os._exit`, `leaving` gets the report and returns the exit code. Otherwise `at_end` gets its
    main module, as it is in the end.
    Raises InvalidInput if there is no such program, or if it has no function that `compiled` names.
    """
    main = find_main(script=program.script, module=program.module)
    targets = read_targets(program.compiled, main.is_called, main.folder)

    def complete(exit_code: int, error: str = "") -> None:
        report.program = Program(name=program.name, arguments=program.arguments, exit_code=exit_code, error=error)
        if processes.is_child:
            processes.save(report, ended=True)
        else:
            processes.add_to(report, in_order)

    def leave(status: int) -> int:
        complete(status)
        return leaving(report) if leaving is not None else status

    with watching_processes(program.name) as processes:
        with ExitStack() as undo:
            undo.enter_context(_as_main(main, program.arguments))
            if program.allow_breaks:
                undo.enter_context(breaks_allowed())
            report = undo.enter_context(explain(processes.keep_up))
            undo.enter_context(saving_at_exit(processes, report, undo, leave))
            import_compiled(targets, undo)
            own = [target for target in targets if not target.module]
            exit_code, error = _outcome(main, own)
            at_end(main.module)
        complete(exit_code, error)
    return report


@contextmanager
def _as_main(main: MainModule, arguments: tuple[str, ...]) -> Iterator[None]:
    """Set sys.argv, sys.path and `__main__` for the program, and restore them at the end."""
    argv, path, before = list(sys.argv), list(sys.path), sys.modules["__main__"]
    try:
        sys.argv[:] = [main.argv0, *arguments]
        sys.path.insert(0, main.folder)
        sys.modules["__main__"] = main.module
        yield
    finally:
        sys.argv[:] = argv
        sys.path[:] = path
        sys.modules["__main__"] = before


def _outcome(main: MainModule, targets: list[CompileTarget]) -> tuple[int, str]:
    """Run the program and wait for its threads. Returns (the exit code of `python`, a text of what it raised)."""
    others, names = set(threading.enumerate()), vars(main.module)
    try:
        try:
            code = compiling_code(main.source(), main.file, targets, names) if targets else main.code()
            exec(code, names)
        finally:
            _join(others)
    except InvalidInput:
        raise
    except SystemExit as left:
        return _exit_code(left), ""
    except KeyboardInterrupt:
        return INTERRUPTED, "KeyboardInterrupt"
    except BaseException as error:  # noqa: BLE001  a user's program may raise anything
        error = error.with_traceback(_from_program(error.__traceback__, names))
        _leave_out_watchers(error)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1, _describe_error(error)
    return 0, ""


def _join(others: set[threading.Thread]) -> None:
    """Wait for the program's threads, as Python does when it ends. Threads of executors are left to Python."""
    for thread in threading.enumerate():
        if thread not in others and not thread.daemon and thread not in _threads_queues:
            thread.join()


def _exit_code(left: SystemExit) -> int:
    if left.code is None:
        return 0
    if isinstance(left.code, int):
        return left.code
    print(left.code, file=sys.stderr)
    return 1


def _from_program(trace: TracebackType | None, names: dict[str, Any]) -> TracebackType | None:
    """The traceback from the program's first frame on; None if no code of the program ran."""
    while trace is not None and trace.tb_frame.f_globals is not names:
        trace = trace.tb_next
    return trace


def _leave_out_watchers(error: BaseException) -> None:
    """Remove the frames of our wrappers from the traceback of an error and of its causes."""
    chain, seen = [error], set[int]()
    while chain:
        one = chain.pop()
        if id(one) not in seen:
            seen.add(id(one))
            chain += [other for other in (one.__cause__, one.__context__) if other is not None]
            kept = [trace for trace in _traces(one) if trace.tb_frame.f_globals.get("__name__") not in _WATCHERS]
            for trace, following in zip(kept, [*kept[1:], None], strict=False):
                trace.tb_next = following
            one.__traceback__ = kept[0] if kept else None


def _traces(error: BaseException) -> Iterator[TracebackType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _describe_error(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
