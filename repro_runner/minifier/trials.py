"""Try a script: in this process where it only traces, apart from it where a backend's code runs."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Protocol

import torch
from torch._inductor.runtime.cache_dir_utils import default_cache_dir

from repro_runner.minifier.failure import NotMinified
from repro_runner.minifier.script import Script

STILL_FAILS = "still fails: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a script ended: its exit code and the line it printed; no code if it was killed, and the text says how."""

    code: int | None
    text: str

    @property
    def fails(self) -> bool:
        """Also says so: a script that can't even be imported ends with 1, too."""
        return self.code == 1 and STILL_FAILS in self.text


class Trials(Protocol):
    """Where scripts are tried."""

    def outcome(self, script: Script) -> Outcome: ...


def write_script(script: Script, path: Path) -> None:
    """The script, and its tensors beside it if it has any."""
    path.write_text(script.text, "utf-8")
    if script.saved:
        torch.save(dict(script.saved), path.with_suffix(".pt"))


class Here:
    """Tries scripts in this process: fast, and only for what can't take the process with it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count()

    def outcome(self, script: Script) -> Outcome:
        path = self._folder / f"candidate_{next(self._numbers)}.py"
        write_script(script, path)
        module = ModuleType(path.stem)
        module.__file__ = str(path)
        sys.modules[path.stem] = module  # Dynamo looks modules of traced functions up by name
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()), _modes_kept():
                torch._dynamo.reset()
                exec(compile(script.text, str(path), "exec"), vars(module))  # our own text
                code = module.report(module.judge)
        except Exception as error:  # noqa: BLE001 - a candidate may be wrong in any way
            return Outcome(code=3, text=f"{type(error).__name__}: {error}")
        finally:
            del sys.modules[path.stem]
        return Outcome(code=code, text=said.getvalue().strip())


@contextlib.contextmanager
def _modes_kept() -> Iterator[None]:
    with torch.set_grad_enabled(torch.is_grad_enabled()), torch.random.fork_rng(devices=[]):
        yield


class Apart:
    """Tries scripts in children of a warm process: a backend that crashes or hangs ends its child, nothing else."""

    def __init__(self, folder: Path, *, seconds: float) -> None:
        self._folder, self.seconds = folder, seconds
        self._numbers = itertools.count()

    def __enter__(self) -> Apart:
        here = str(Path(__file__).resolve().parents[2])
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([here, *(entry or str(Path.cwd()) for entry in sys.path)]),
            "OMP_NUM_THREADS": "1",
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            # Each child has a temporary folder of its own; a cold cache costs half a minute.
            "TORCHINDUCTOR_CACHE_DIR": os.environ.get("TORCHINDUCTOR_CACHE_DIR") or default_cache_dir(),
        }
        command = [sys.executable, "-m", "repro_runner.minifier.worker"]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.terminate()
        with contextlib.suppress(BrokenPipeError), self._process:
            pass

    def outcome(self, script: Script) -> Outcome:
        path = self._folder / f"candidate_{next(self._numbers)}.py"
        write_script(script, path)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # A script about a hang waits for eager and for the backend itself, each as long as it may take.
        job = {"path": str(path), "seconds": self.seconds * (3 if "check_crash" in script.text else 1)}
        try:
            print(json.dumps(job), file=self._process.stdin, flush=True)
            answer = json.loads(self._process.stdout.readline())
        except (BrokenPipeError, ValueError) as error:
            raise NotMinified("the process that backends are tried in was killed; is there enough memory?") from error
        path.with_suffix(".pt").unlink(missing_ok=True)
        said = last_verdict(answer["output"]) or answer["output"].strip()[-2000:]
        return Outcome(code=answer["record"].get("code"), text=answer["record"].get("cause") or said)


def last_verdict(output: str) -> str:
    """The line that a script ends with; a backend may have printed others."""
    verdicts = (STILL_FAILS, "gone: ", "another failure: ")
    return next((line for line in reversed(output.splitlines()) if line.startswith(verdicts)), "")
