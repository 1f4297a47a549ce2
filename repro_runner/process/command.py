"""Run any program in its own session: within a time limit, with its output kept, or with this process's terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from repro_runner.process.linux import kill_group
from repro_runner.process.pool import ROOT
from repro_runner.process.supervise import Ended, Output


def run_command(command: Sequence[str], *, seconds: float, folder: Path | None = None) -> Ended:
    """Run a program and wait for it. The result is `{"code": 0}`; None if it was killed, and `failure` says why."""
    key = command[0]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # its own process group: processes that it starts are killed with it
    ) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return Ended(key=key, failure=f"took longer than {seconds:g} s")
        finally:
            kill_group(process.pid)
    stdout, stderr = Output(start=out), Output(start=err)
    if process.returncode < 0:
        failure = f"was killed by {signal.Signals(-process.returncode).name}"
        return Ended(key=key, failure=failure, stdout=stdout, stderr=stderr)
    return Ended(key=key, result={"code": process.returncode}, stdout=stdout, stderr=stderr)


# Instead of `-m`, which would look for modules in the current folder first. That folder belongs to the user.
_MODULE = (
    "import sys; sys.path[0] = sys.argv.pop(1); from repro_runner.process.linux import die_with_parent; "
    "die_with_parent(int(sys.argv.pop(1))); import runpy; "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def module_command(module: str, *words: str) -> list[str]:
    """`python -m module words`, as a child of this process that ends when this process does."""
    return [sys.executable, "-c", _MODULE, str(ROOT), str(os.getpid()), module, *words]


def run_attached(
    command: Sequence[str],
    stdout: IO[bytes] | int | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    started: Callable[[Callable[[], bool]], None] = lambda _: None,
) -> int:
    """Run a program that writes where this process writes, or into a file; its exit code. Ctrl-C is passed on to it.

    `started` is called once, with a function that says whether the program still runs.
    """
    with subprocess.Popen(command, stdout=stdout, cwd=folder, env=environment, start_new_session=True) as process:
        try:
            started(lambda: process.poll() is None)
            return process.wait()
        except KeyboardInterrupt:  # once: the program's own clean-up must not be interrupted
            process.send_signal(signal.SIGINT)
            return process.wait()
