"""Work with a user's model and backend in a child: if they crash, hang or leak, this side gets one line about it.

This side needs no torch. The child can say what it is doing (`doing`), so that the line can name it, and writes down
where it was when it died.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import importlib
import importlib.util
import json
import math
import os
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from registry.errors import InvalidInput, Problem, WriteFailed
from repro_runner.process.pool import (
    ROOT,
    Pool,
    PoolDied,
    Service,
    importable_environment,
    own_folder,
    temporary_folder,
)
from repro_runner.process.supervise import Job, Limits

_MOST_SAID = 400
_STACK, _DOING = "stack.txt", "doing.json"
_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+)', re.MULTILINE)
SEARCHING = "searching for the op that is wrong"
"""What a child does after a comparison. If it dies there, the comparison is worth to be made once more."""
IN_FLOAT64 = "running the model in float64, without a compiler"
"""The same, for a comparison that asks whether a difference is rounding."""
_REMEDIES = {"took longer": "--timeout", "used more": "--memory"}
"""How a child ended -> the option that gives it more."""


def remedy_for(how: str, where: str = "") -> str:
    """`; --timeout gives it more`, for a child that ended in this way; empty if no option helps."""
    return next(
        (f"; {option}{where} gives it more" for start, option in _REMEDIES.items() if how.startswith(start)), ""
    )


@dataclass(frozen=True, slots=True)
class Doing:
    """What a child is doing: `while` and these words make a sentence."""

    words: str = "it started"
    own: bool = True
    """It runs the user's model only: no backend is to blame."""
    seconds: float | None = None
    """How long that may take."""


class ChildFailed(Exception):
    """The child ended before its work was done. The text is one line: where, how it ended, and what it was doing."""

    def __init__(self, how: str, doing: Doing, stack: str) -> None:
        if stack.startswith("Timeout") and doing.seconds is not None:
            how = f"took longer than {doing.seconds:g} s"
        how = how.removesuffix(" before it was done")
        self.how, self.doing, self.stack = how, doing, stack
        """`was killed by SIGSEGV`; what it was doing; its Python stack, as it was then."""
        # Until the child says what it is doing, it imports torch: the packages in that stack are not the user's.
        self.where = innermost_frame(stack) if doing != Doing() else ""
        self._what = f"the process {how} while {doing.words}{remedy_for(how)}"
        super().__init__(f"{self.where}: {self._what}" if self.where else self._what)

    def problem(self, otherwise: str) -> Problem:
        """The same as a problem; `otherwise` is its place if the user's line is not known."""
        return Problem(self.where or otherwise, self._what)


class Isolation:
    """Makes a child for each task: a fork of a process that has imported `modules`, or a new process."""

    def __init__(
        self, modules: Sequence[str] = (), *, isolate: str = "fork", environment: Mapping[str, str] | None = None
    ) -> None:
        self._environment = dict(environment or {})
        service = Service(
            task=f"{__name__}:perform",
            warm_up=f"{__name__}:import_modules",
            warm_up_arguments=tuple(modules),
            isolate=isolate,
            streams="inherited",
        )
        self._pool = Pool(service, importable_environment() | self._environment)
        self._home = temporary_folder("graphbreak-children-")

    def __enter__(self) -> Isolation:
        self._pool.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.__exit__(kind, error, trace)
        self._home.cleanup()  # not before: a child that runs would go on to write there

    def run(self, task: str, arguments: Mapping[str, Any], limits: Limits, *, each: bool = False) -> Any:
        """What `task` (`module:function`) returns for `arguments`, in a child; both have to fit into JSON.

        The time is for all of it; with `each`, for each thing that the child says it is doing.
        Raises what the task raises of InvalidInput and WriteFailed; ChildFailed if it ends in any other way.
        """
        given = {
            "task": task,
            "arguments": dict(arguments),
            "folder": str(Path.cwd()),
            "path": sys.path,
            "environment": dict(os.environ) | self._environment,
            "seconds": limits.seconds if each else None,
        }
        whole = math.inf if each else limits.seconds
        # This folder is for what the child leaves; it works in the current one, from which the model's path starts.
        folder = tempfile.mkdtemp(dir=self._home.name)
        job = Job(key=task, arguments=given, seconds=whole, memory=limits.memory, folder=folder)
        try:
            ended = self._pool.run(job)
        except PoolDied as error:
            raise ChildFailed(f"could not be started: {error}", Doing(), "") from error
        doing, stack = _read_doing(Path(folder)), _read_text(Path(folder) / _STACK)
        if ended.result is None:
            raise ChildFailed(ended.failure, doing, stack)
        return _returned(ended.result, doing)


def _returned(result: Mapping[str, Any], doing: Doing) -> Any:
    if "refused" in result:
        raise InvalidInput([Problem(*each) for each in result["refused"]])
    if "not_written" in result:
        raise WriteFailed(result["not_written"])
    if "raised" in result:
        raise ChildFailed(result["raised"], doing, result["stack"])
    return result["returned"]


_servers: list[Isolation] = []


@contextlib.contextmanager
def isolation(*modules: str) -> Iterator[Isolation]:
    """Where children come from. Inside another such block, from the server of that: torch is imported once."""
    if _servers:
        yield _servers[-1]
        return
    with Isolation(modules) as server:
        _servers.append(server)
        try:
            yield server
        finally:
            _servers.pop()


def import_modules(*names: str) -> None:
    """Before the first fork. No operator may run here: a child would hang in its threads."""
    for name in names:
        importlib.import_module(name)


def perform(arguments: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The task of every child: call the one that was asked for, and say how that ended."""
    os.chdir(arguments["folder"])
    os.environ.clear()
    os.environ.update(arguments["environment"])
    sys.path[:] = arguments["path"]
    own_folder.append(folder)
    with (folder / _STACK).open("w") as stack:
        _notes.append(_Notes(folder / _DOING, stack, arguments["seconds"]))
        faulthandler.enable(stack)
        faulthandler.register(signal.SIGUSR1, stack)  # what the supervisor sends before it kills
        try:
            return {"returned": _find(arguments["task"])(arguments["arguments"])}
        except InvalidInput as error:
            return {"refused": [(problem.where, problem.message) for problem in error.problems]}
        except WriteFailed as error:
            return {"not_written": str(error)}
        except SystemExit as error:
            return {"raised": f"called sys.exit({error.code!r})", "stack": traceback.format_exc()}
        except BaseException as error:  # noqa: BLE001 - a model or a backend may raise anything
            last = traceback.format_exception_only(error)[-1].strip().partition("\n")[0]
            return {"raised": f"raised {shortened(last)}", "stack": traceback.format_exc()}


def shortened(said: str) -> str:
    """What somebody raised, for one line of text: a backend may put a whole program into its message."""
    return said if len(said) <= _MOST_SAID else f"{said[:_MOST_SAID]}… ({len(said):,} characters in all)"


@dataclass(frozen=True, slots=True)
class _Notes:
    """What a child writes down: what it is doing, for how long it may, and its stack when it dies."""

    doing: Path
    stack: TextIO
    seconds: float | None


_notes: list[_Notes] = []
"""Empty in a process that is no child."""


def doing(words: str, *, own: bool = False, limited: bool = True) -> None:
    """Note in a child what it does from now on. Not `limited`: it has limits of its own. Elsewhere: nothing."""
    for notes in _notes:
        seconds = notes.seconds if limited else None
        notes.doing.write_text(json.dumps(asdict(Doing(words, own, seconds))), "utf-8")
        faulthandler.cancel_dump_traceback_later()
        if seconds is not None:
            faulthandler.dump_traceback_later(seconds, exit=True, file=notes.stack)


def _find(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def _read_doing(folder: Path) -> Doing:
    text = _read_text(folder / _DOING)
    return Doing(**json.loads(text)) if text else Doing()


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def innermost_frame(stack: str) -> str:
    """`file:line` of the innermost frame in the user's own code; empty if there is none.

    A traceback has the innermost frame last. A dump of faulthandler has it first, thread by thread. Only the current
    thread counts, and the others if it waits for a backward, which some devices run in a thread of their own.
    """
    if stack.startswith("Traceback"):
        frames = _FRAME.findall(stack)[::-1]
    else:
        others, _, current = stack.partition("Current thread")
        frames = _FRAME.findall(current)
        frames += _FRAME.findall(others) if "_engine_run_backward" in current else []
    return next((f"{file}:{line}" for file, line in frames if is_the_users(file)), "")


def is_the_users(file: str) -> bool:
    """Whether it is neither of this project, nor of torch, nor of Python's own library."""
    if file.startswith("<") or any(Path(file).is_relative_to(folder) for folder in _others()):
        return False
    return not Path(file).is_relative_to(Path(os.__file__).parent) or "-packages" in file


@functools.cache
def _others() -> tuple[Path, ...]:
    torch = importlib.util.find_spec("torch")
    return (ROOT / "repro_runner", ROOT / "registry", *map(Path, (torch and torch.submodule_search_locations) or ()))
