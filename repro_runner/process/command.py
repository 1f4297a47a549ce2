"""Run any program in its own session: within a time limit, with its output kept, or with this process's terminal."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from repro_runner.process.linux import kill_group
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


def run_attached(command: Sequence[str], stdout: IO[bytes] | None = None) -> int:
    """Run a program that writes where this process writes, or into a file; its exit code. Ctrl-C is passed on to it."""
    with subprocess.Popen(command, stdout=stdout, start_new_session=True) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:  # once: the program's own clean-up must not be interrupted
            process.send_signal(signal.SIGINT)
            return process.wait()
