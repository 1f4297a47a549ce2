"""The command's side of the warm parent: start it with a clean environment, send jobs, take records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def run_jobs(
    jobs: Sequence[Job], *, isolate: str = "fork", slots: int = 1, limits: Limits | None = None
) -> Iterator[Finished]:
    """Yield jobs as they end. Leaving the loop early, also by Ctrl-C, ends every process."""
    limits = limits or Limits()
    command = [
        sys.executable,
        "-m",
        "repro_runner.runner.warm",
        isolate,
        str(slots),
        str(limits.seconds),
        str(limits.memory),
    ]
    with subprocess.Popen(
        command, env=child_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as warm:
        # The jobs may be more than a pipe holds, and the warm parent reads while it is still importing torch.
        sender = threading.Thread(target=_send, args=(warm, jobs))
        sender.start()
        assert warm.stdout is not None
        try:
            for line in warm.stdout:
                yield Finished(**json.loads(line))
        finally:
            warm.terminate()
            sender.join()


def _send(warm: subprocess.Popen[str], jobs: Sequence[Job]) -> None:
    assert warm.stdin is not None
    try:
        with warm.stdin as stdin:
            for job in jobs:
                stdin.write(json.dumps(job.to_json()) + "\n")
    except BrokenPipeError:
        pass  # it died; what it had done is known, what it had not stays not run


def child_environment() -> dict[str, str]:
    """What torch needs and nothing else: a repro sees no token of this machine's."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}
    cache = Path(tempfile.gettempdir()) / f"graphbreak-inductor-{os.getuid()}"
    return {
        **kept,
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(cache),
    }
