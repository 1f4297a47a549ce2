"""The one folder in which an agent may run scripts, and our own commands run there as children, within limits."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from registry.errors import InvalidInput, Problem
from repro_runner.output.places import find_below
from repro_runner.output.terminal import plain
from repro_runner.process import Job, Limits, Pool, PoolDied, Service

MOST_CHARACTERS = 40_000
"""Of one text in an answer: an agent has to read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """How one of our commands ended."""

    code: int | None
    """Its exit code; None if it was killed, or died."""
    failure: str
    """How it died: `took longer than 5 s`."""
    stdout: str
    stderr: str


class Call:
    """A call of a tool. Its commands run in a thread; another thread may give it up."""

    current: ClassVar[ContextVar[Call | None]] = ContextVar("call", default=None)

    def __init__(self) -> None:
        self._pool: Pool | None = None
        self._is_given_up = False

    def runs(self, pool: Pool) -> None:
        """Remember what to end. A call that was given up before ends it at once."""
        self._pool = pool
        if self._is_given_up:
            pool.end()

    def give_up(self) -> None:
        self._is_given_up = True
        if self._pool:
            self._pool.end()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where and how commands run."""

    task: str
    """`module:function` that runs the words of a command line in a child: this room does not know the commands."""
    limits: Limits
    scratch: Path
    """For the files of calls; it is outside of `folder`."""
    folder: Path | None = None
    """Without symbolic links. None: no scripts are run."""

    def scratch_folder(self) -> tempfile.TemporaryDirectory[str]:
        """A folder for the files of one call."""
        return tempfile.TemporaryDirectory(dir=self.scratch)

    def word_for(self, name: str) -> str:
        """A file below the folder, as a word that no command takes for an option. InvalidInput if there is none."""
        path = str(find_below(name, self._folder()).relative_to(self._folder()))
        return f"./{path}" if path.startswith("-") else path

    def _folder(self) -> Path:
        if self.folder is None:
            why = "is not given, so no files are read or run; start `graphbreak mcp --folder DIR`"
            raise InvalidInput([Problem("--folder", why)])
        return self.folder

    def run(self, words: Sequence[str], folder: Path | None = None) -> CommandRun:
        """Run a command in the folder, or in another. Its standard input is empty."""
        service = Service(task=self.task, isolate="process", streams="apart", limits=self.limits)
        arguments = {"words": list(words), "folder": str(folder or self._folder())}
        with self.scratch_folder() as own, Pool(service) as pool:
            if call := Call.current.get():
                call.runs(pool)
            try:
                ended = pool.run(Job(key=words[0], arguments=arguments, folder=own))
            except PoolDied as error:
                return CommandRun(code=None, failure=f"could not be started: {error}", stdout="", stderr="")
        return CommandRun(
            code=ended.result["code"] if ended.result else None,
            failure=ended.failure,
            stdout=ended.stdout.text,
            stderr=ended.stderr.text,
        )


def inert(value: Any) -> Any:
    """The value with all its texts bounded and without control characters; line breaks stay."""
    if isinstance(value, dict):
        return {inert(key): inert(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [inert(each) for each in value]
    return _bounded("\n".join(map(plain, value.expandtabs(4).split("\n")))) if isinstance(value, str) else value


def _bounded(text: str) -> str:
    left = len(text) - MOST_CHARACTERS
    return text if left <= 0 else f"{text[:MOST_CHARACTERS]}\n… {left} more characters were left out here."
