"""A program that runs beside this process: its lines can be read meanwhile, and it can be stopped."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from repro_runner.process.linux import kill_group

_KEPT_LINES = 1_000
_GRACE = 5.0
"""Seconds that a program has after Ctrl-C to end what it started."""


class Background:
    """A command of `module_command`, started at once. At the end of this process it is stopped, too."""

    def __init__(self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._process: subprocess.Popen[str] | None = None
        self._started, self._ended = threading.Event(), threading.Event()
        # The thread that starts it has to live as long as it does: the kernel takes a thread for the parent.
        arguments = (list(command), folder, dict(os.environ if environment is None else environment))
        threading.Thread(target=self._run, args=arguments, daemon=True).start()
        self._started.wait()
        atexit.register(self.stop)

    def _run(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        try:
            with subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="backslashreplace",
                start_new_session=True,
            ) as process:
                self._process = process
                self._started.set()
                assert process.stdout is not None
                self._lines.extend(line.rstrip("\n") for line in process.stdout)
        finally:
            self._started.set()
            self._ended.set()
            atexit.unregister(self.stop)

    @property
    def lines(self) -> list[str]:
        """What it has printed so far, on both streams; the last thousand lines."""
        return list(self._lines)

    @property
    def code(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._process.returncode if self._process is not None and self._ended.is_set() else None

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    def stop(self) -> None:
        """End it, as Ctrl-C would, and wait. What is left of it then, or after a few seconds, is killed."""
        if self._process is None or not self.running:
            return
        process = self._process
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.kill(process.pid, signal.SIGINT)
            process.wait(_GRACE)
        kill_group(process.pid)
        self._ended.wait(_GRACE)
