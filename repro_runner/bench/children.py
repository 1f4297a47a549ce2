"""Start a process for a job, hold it to its time, and say how it ended. No torch here."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repro_runner.bench.job import Job

_SAID = 300
"""Of what a process that died had to say: as many characters from the end."""


def run_child(job: Job, folder: Path, *, timeout: float, environment: Mapping[str, str]) -> dict[str, Any]:
    """The child's result; `{"failed": why}` if it has none. `folder` is its own, and what it caches stays there."""
    result, output = folder / "result.json", folder / "output.txt"
    result.unlink(missing_ok=True)
    with output.open("wb") as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "repro_runner.bench.child", str(result)],
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            env={**os.environ, **environment},
            start_new_session=True,  # a group of its own: compilers start processes, which go with it
        )
        try:
            child.communicate(json.dumps(job.to_json()).encode(), timeout=timeout)
        except subprocess.TimeoutExpired:
            return {"failed": f"took longer than {timeout:g} s; --timeout gives it more"}
        finally:
            _end(child)
    if result.is_file():
        found: dict[str, Any] = json.loads(result.read_bytes())
        return found
    return {"failed": _how_it_ended(child.returncode, output)}


def _end(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _how_it_ended(code: int, output: Path) -> str:
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    last = output.read_text("utf-8", "replace").strip().rpartition("\n")[2][-_SAID:]
    return f"{how}: {last}" if last else how
