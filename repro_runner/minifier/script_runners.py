"""Run scripts and say how they end: in this process, in a child of a warm one, or as their readers will."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import runpy
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Protocol

import torch

from repro_runner.minifier.result import NotMinified
from repro_runner.minifier.script import Script, folders_of
from repro_runner.process import (
    Job,
    Limits,
    Output,
    Pool,
    PoolDied,
    Service,
    importable_environment,
    run_command,
    temporary_folder,
)
from repro_runner.torch_seams import default_cache_dir, guards, reset

STILL_FAILS = "still fails: "
_VERDICT = re.compile(r"(?:still fails|gone|another failure): .*")
_OWN = ("repro_runner", "registry", "sitegen", "generate_site")
_START_ALONE = """\
import runpy, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[2].split():
            raise ModuleNotFoundError(f"No module named {name!r}")

script = sys.argv[1]
sys.path[:0] = sys.argv[3:]
sys.meta_path.insert(0, Absent())
runpy.run_path(script, run_name="__main__")
"""
"""Isolated from the environment, with this project out of reach even where it is installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a script ended: its exit code and the line it printed; no code if it was killed, and the text says how."""

    code: int | None
    text: str

    @property
    def fails(self) -> bool:
        """Whether it ended with 1 and printed that it fails: one that can't even be imported ends with 1, too."""
        return self.code == 1 and self.text.startswith(STILL_FAILS)


class ScriptRunner(Protocol):
    """Where scripts are run."""

    def outcome(self, script: Script) -> Outcome: ...


def write_script(script: Script, path: Path) -> None:
    """The script, and its tensors beside it if it has any."""
    path.write_text(script.text, "utf-8")
    if script.saved:
        torch.save(dict(script.saved), path.with_suffix(".pt"))


class InProcess:
    """Runs scripts in this process: fast, but only for scripts that can't crash it."""

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
                reset()
                exec(compile(script.text, str(path), "exec"), vars(module))  # the script is our own text
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


class InChild:
    """Runs scripts in children of a warm process: a backend that crashes or hangs ends its child, nothing else."""

    def __init__(self, folder: Path, limits: Limits, *, device: str = "cpu") -> None:
        self._folder, self.limits, self._device = folder, limits, device
        self._numbers = itertools.count()

    def __enter__(self) -> InChild:
        environment = {
            **importable_environment(),
            "OMP_NUM_THREADS": "1",
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            # Each child has a temporary folder of its own; a cold cache costs half a minute.
            "TORCHINDUCTOR_CACHE_DIR": os.environ.get("TORCHINDUCTOR_CACHE_DIR") or default_cache_dir(),
        }
        service = Service(
            task="repro_runner.minifier.script_runners:run_script",
            warm_up="repro_runner.minifier.script_runners:warm_up",
            warm_up_arguments=(self._device,),
            limits=self.limits,
        )
        self._pool = Pool(service, environment).__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.__exit__(kind, error, trace)

    def outcome(self, script: Script) -> Outcome:
        path = self._folder / f"candidate_{next(self._numbers)}.py"
        write_script(script, path)
        # A script about a hang waits for eager and for the backend itself, each as long as it may take.
        seconds = self.limits.seconds * (3 if "check_crash" in script.text else 1)
        try:
            ended = self._pool.run(Job(key=path.stem, arguments={"path": str(path)}, seconds=seconds))
        except PoolDied as error:
            raise NotMinified("the process that backends are tried in was killed; is there enough memory?") from error
        path.with_suffix(".pt").unlink(missing_ok=True)
        printed = last_verdict(ended.stdout) or ended.stdout.last_line
        return Outcome(code=(ended.result or {}).get("code"), text=ended.failure or printed)


def run_standalone(script: Script, *, seconds: float) -> Outcome:
    """Run a finished script as its reader will: in a fresh process, in another folder, without this project.

    Nothing but torch, and the modules that it names, can be imported there.
    """
    absent = [name for name in _OWN if name not in {module.partition(".")[0] for module in script.modules}]
    with temporary_folder("graphbreak-minified-") as folder:
        path = Path(folder) / "repro.py"
        write_script(script, path)
        command = [sys.executable, "-I", "-c", _START_ALONE, str(path), " ".join(absent), *folders_of(script.modules)]
        ended = run_command(command, seconds=seconds, folder=Path(folder))
    if ended.result is None:
        return Outcome(code=None, text=ended.failure)
    text = last_verdict(ended.stdout) or ended.stderr.last_line
    return Outcome(code=ended.result["code"], text=text)


def warm_up(device: str) -> None:
    """Import what every script imports. Where there is another device than the CPU that is all: compiling touches a
    GPU's driver, and a child forked after that can't use it; and it starts autograd's threads, one for each device that
    is known by then."""
    torch.set_num_threads(1)
    if device == "cpu" and not Path("/dev/nvidiactl").exists():
        torch.compile(lambda x: x + 1, backend="aot_eager")(torch.ones(2, requires_grad=True))
        reset()
        # Dynamo times the guards of every graph once, for its own statistics; flushing the cache for it takes 18 ms.
        guards.profile_guard_manager = lambda *_: 0.0


def run_script(arguments: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """The task of a child: run the script at `path` as Python would, and return its exit code."""
    try:
        runpy.run_path(arguments["path"], run_name="__main__")
    except SystemExit as end:
        return {"code": end.code if isinstance(end.code, int) else 0}
    except BaseException as error:  # noqa: BLE001 - as the interpreter does
        traceback.print_exception(error, limit=0)  # not the script's own lines, which have the words of a verdict
        return {"code": 1}
    return {"code": 0}


def last_verdict(output: Output) -> str:
    """What a script ends with; a backend may have printed other lines, and the beginning of this one."""
    return next(reversed(_VERDICT.findall(output.text)), "")
