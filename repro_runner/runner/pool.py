"""The command's side of the warm parent: start it with a clean environment, send jobs, take records."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from repro_runner.runner.environment import describe_environment
from repro_runner.runner.job import Job, Limits

_KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CC", "CXX", "TRITON_CACHE_DIR", "HOME")
_KEPT_PREFIXES = ("CUDA_", "NVIDIA_", "MOCK_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A job that ended."""

    gb_id: str
    backend: str
    record: Mapping[str, Any]
    output: str


class WarmParent:
    """The process that forks the children. Leaving the `with` block, also by Ctrl-C, ends every process."""

    def __init__(
        self, *, isolate: str = "fork", device: str = "cpu", slots: int = 1, limits: Limits | None = None
    ) -> None:
        limits = limits or Limits()
        self._device = device
        numbers = (str(slots), str(limits.seconds), str(limits.memory))
        self._command = [sys.executable, "-m", "repro_runner.runner.warm", isolate, device, *numbers]

    def __enter__(self) -> WarmParent:
        self._process = subprocess.Popen(
            self._command, env=child_environment(self._device), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.terminate()
        with contextlib.suppress(BrokenPipeError), self._process:
            pass

    def submit(self, job: Job) -> None:
        """Send a job; it is run when there is room."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job.to_json()) + "\n")
        self._process.stdin.flush()

    def no_more(self) -> None:
        """Say that no job follows: the process ends after the last."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def results(self, started: Callable[[str], None] = lambda _: None) -> Iterator[Finished]:
        """Yield jobs as they end, until the process does. `started` is called with the key of each job that starts."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            content = json.loads(line)
            if "started" in content:
                started(content["started"])
            else:
                yield Finished(**content)


class ThisMachine:
    """Runs jobs in children of one warm parent on this machine."""

    def __init__(self, device: str, *, isolate: str = "fork", limits: Limits | None = None, slots: int = 1) -> None:
        self._device = device
        self._parent = WarmParent(isolate=isolate, device=device, slots=slots, limits=limits)

    def environment(self) -> dict[str, str]:
        """The header of the evidence file."""
        return describe_environment(self._device)

    def run(self, jobs: Sequence[Job], started: Callable[[str], None] = lambda _: None) -> Iterator[Finished]:
        """Yield jobs as they end."""
        with self._parent as warm:
            # The jobs may be more than a pipe holds, and the process reads none while it is still importing torch.
            sender = threading.Thread(target=_send, args=(warm, jobs), daemon=True)
            sender.start()
            yield from warm.results(started)


def _send(warm: WarmParent, jobs: Sequence[Job]) -> None:
    with contextlib.suppress(BrokenPipeError, ValueError):  # it died, or we left: what is not done stays not run
        for job in jobs:
            warm.submit(job)
        warm.no_more()


def child_environment(device: str = "cpu") -> dict[str, str]:
    """What torch needs and nothing else: a repro sees no token of this machine's, and no GPU it was not given."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}
    cache = Path(tempfile.gettempdir()) / f"graphbreak-inductor-{os.getuid()}"
    if device == "cpu":
        kept["CUDA_VISIBLE_DEVICES"] = ""
    return {
        **kept,
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "PYTHONHASHSEED": "0",
        "GRAPHBREAK_ARTIFACTS": "0",  # the mock backend would keep the graphs of every program
        "OMP_NUM_THREADS": "1",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(cache),
    }
