"""The steps of the tour. Each is a command that you can repeat; here its function is called directly."""

from __future__ import annotations

import contextlib
import importlib
import os
import shlex
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain
from repro_runner.runs import RunFolder, list_runs, runs_home
from repro_runner.runs.run_folder import MANIFEST

_HERE = Path(__file__).parent
Tell = Callable[[str], None]
Pause = Callable[[], None]
FILES = ("tiny/model.py", "tiny/device.yml", "faulty.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command, why one would run it, and the exit code that it has here."""

    why: str
    arguments: tuple[str, ...]
    code: int

    @property
    def command(self) -> str:
        return f"graphbreak {shlex.join(self.arguments)}"

    def run(self) -> int:
        module = importlib.import_module(f"repro_runner.cli.{self.arguments[0]}")
        return int(module.main(list(self.arguments[1:])))


def write_tiny_model(run: RunFolder) -> Path:
    """The model, a device and a backend with a fault, for the reader to change and try again."""
    for name in FILES:
        run.write_bytes(f"tiny/{Path(name).name}", (_HERE / name).read_bytes())
    return run.path / "tiny"


def plan_steps(run: RunFolder) -> tuple[Step, ...]:
    """In the folder of the tiny model; `run` is what the report at the end is about."""
    model, device = "model.py:make_model", "device.yml"
    return (
        Step(
            why="Hold the model against what a device can do: this one has no gelu, and wants matrices with rows of a "
            "multiple of four. Ops that it refuses fall back to the host, and every crossing costs.",
            arguments=("check", model, "--device-file", device),
            code=NOT_AS_IT_SHOULD_BE,
        ),
        Step(
            why="Compare a backend's numbers with eager's. This one has a fault planted in it. The first op that "
            "it computes wrongly is named, with its line: eager has another result for the same operands.",
            arguments=("diff", model, "--backend", "faulty:backend", "--pictures"),
            code=NOT_AS_IT_SHOULD_BE,
        ),
        Step(
            why="See why the model is compiled again: what each compiled graph relies on, which call broke that, and "
            "what to write so that it no longer does. Advice is tried before it is given.",
            arguments=("guards", model),
            code=DONE,
        ),
        Step(
            why="Cut the failure down to the smallest program that still fails, one that needs nothing but torch. It "
            "is run in a process of its own before anybody is told.",
            arguments=("minify", model, "--device-file", device),
            code=DONE,
        ),
        Step(
            why="Every command leaves a run on disk. `graphbreak artifacts clean` deletes them, and asks first.",
            arguments=("artifacts", "list"),
            code=DONE,
        ),
        Step(
            why="All of it in one page, for the tour gathered what the runs hold. With a model instead of a run, "
            "`graphbreak report` does everything itself.",
            arguments=("report", run.id),
            code=DONE,
        ),
    )


def gather(run: RunFolder, before: frozenset[str]) -> None:
    """Copy the files of this process's other runs into `run`, except those of runs whose id is in `before`."""
    for each in list_runs():
        if each.id not in before and each != run and each.manifest().get("pid") == os.getpid():
            for name in _files(each.path):
                if name != MANIFEST:
                    run.write_bytes(name, (each.path / name).read_bytes())


def _files(folder: Path) -> Iterator[str]:
    return (str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file())


@contextlib.contextmanager
def _current_folder(folder: Path) -> Iterator[None]:
    """Work in this folder, where commands are short. Runs still go to the home of the current folder."""
    here, known = Path.cwd(), os.environ.get("GRAPHBREAK_HOME")
    os.environ["GRAPHBREAK_HOME"] = str(runs_home())
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        del os.environ["GRAPHBREAK_HOME"]
        if known is not None:
            os.environ["GRAPHBREAK_HOME"] = known


def take_tour(run: RunFolder, tell: Tell, pause: Pause) -> list[Step]:
    """Take every step; return those that did not end as they should."""
    before = frozenset(each.id for each in list_runs())
    folder = write_tiny_model(run)
    program = (folder / "model.py").read_text("utf-8")
    tell("")
    tell(plain(f"$ cd {shlex.quote(str(folder))}"))
    tell(plain(f"$ export GRAPHBREAK_HOME={shlex.quote(str(runs_home()))}"))
    tell("$ cat model.py\n")
    tell(textwrap.indent(program.rstrip(), "    "))
    steps = plan_steps(run)
    with _current_folder(folder):
        return [step for number, step in enumerate(steps, 1) if not _take_step(number, step, run, before, tell, pause)]


def _take_step(number: int, step: Step, run: RunFolder, before: frozenset[str], tell: Tell, pause: Pause) -> bool:
    pause()
    tell(f"\n{number}. {step.why}\n\n$ {step.command}\n")
    if step.arguments[0] == "report":
        gather(run, before)
    code = step.run()
    if code != step.code:
        tell(f"\nexit code {code}, where {step.code} was to be expected")
    elif code:
        tell(f"\nexit code {code}: something is not as it should be, and a script can tell")
    return code == step.code
