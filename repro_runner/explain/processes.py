"""Watch the processes that a program starts, and add what they compiled to the program's report. No torch is needed.

A child that is forked has the watchers of its parent. Another Python process loads a `sitecustomize` that PYTHONPATH
leads to; it starts to watch when the process imports Dynamo. Each process writes its report into one folder when it
ends, and now and then after a compilation, because it may be killed.
"""

from __future__ import annotations

import atexit
import os
import pickle
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from registry.datafile import write_whole
from registry.errors import WriteFailed
from repro_runner.explain.importing import AfterImport
from repro_runner.explain.merging import Gathering, find_differences, rank_order
from repro_runner.explain.report import Report
from repro_runner.explain.site import Process, Site, Totals
from repro_runner.output.places import shown_place
from repro_runner.process.observe import noting_commands, process_name

_FOLDER = "GRAPHBREAK_PROCESSES"
"""The variable with the folder into which a process writes its report."""
_ROOT = Path(__file__).resolve().parent.parent.parent
_START = """\
import sys
sys.path[:] = [one for one in sys.path if one != {folder!r}]
own = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # the user's
except ImportError:
    sys.modules["sitecustomize"] = own
sys.path.append({root!r})
from repro_runner.explain.processes import watch_when_needed
watch_when_needed()
sys.path.remove({root!r})
"""
_PYTHON = re.compile(r"python[0-9.]*(?:\.exe)?$")
_HELPER = "torch/_inductor/compile_worker"
"""A process that torch itself starts to compile kernels in."""
_ALONE = "is started without the environment of its parent"
_KILLED = "was ended from outside; counted up to its last compilation"
_LONGEST = 80
"""Characters of a command that are shown."""
_SAVING_FREE, _SAVING_SHARE = 1.0, 20
"""After this many seconds, saving takes at most one part in this many of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What a process writes."""

    started: float
    rank: str
    name: str
    report: Report
    ended: bool
    unwatched: tuple[str, ...]


class ProcessReports:
    """The reports of the processes of one program. A child of this process has this object, too, as its own."""

    def __init__(self, folder: Path, program: str, *, is_child: bool) -> None:
        self._folder = folder
        self._program = Path(program).name or "python"
        self._owner = 0 if is_child else os.getpid()
        self._inherited_rank = ""
        self._started = time.monotonic()
        self._saving = self._next_save = 0.0
        self._unwatched: list[str] = []
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._in_fork)

    @property
    def is_child(self) -> bool:
        return os.getpid() != self._owner

    def keep_up(self, make: Callable[[], Report]) -> None:
        """In a child, after a compilation: save what is known, because the child may be killed."""
        start = time.monotonic()
        if self.is_child and (self._saving < _SAVING_FREE or start >= self._next_save):
            self.save(make(), ended=False)
            end = time.monotonic()
            self._saving += end - start
            self._next_save = end + _SAVING_SHARE * (end - start)

    def save(self, report: Report, *, ended: bool) -> None:
        """Write the report of this process, unless nothing was compiled in it. A full disk is not its fault."""
        rank, name = self._rank_and_name()
        if not (report.totals.compilations or report.sites or rank or self._unwatched):
            return
        part = _Part(
            started=self._started,
            rank=rank,
            name=name,
            report=report,
            ended=ended,
            unwatched=tuple(self._unwatched),
        )
        with suppress(WriteFailed, OSError):
            write_whole(self._folder / f"{os.getpid()}.report", pickle.dumps(part))

    def add_to(self, report: Report, in_order: Callable[[Iterable[Site]], Iterable[Site]]) -> None:
        """Add what the children wrote to the report of their parent."""
        parts = sorted(self._read(), key=lambda part: (not part.rank, rank_order(part.rank), part.started))
        unwatched = [*self._unwatched, *(one for part in parts for one in part.unwatched)]
        if parts:
            _merge(report, parts, in_order)
        report.processes += tuple(
            Process(name=f"{count}× {command}" if count > 1 else command, note=f"{_ALONE}, and could not be watched")
            for command, count in Counter(unwatched).items()
        )

    def _read(self) -> Iterator[_Part]:
        for path in self._folder.glob("*.report"):
            yield pickle.loads(path.read_bytes())

    def _in_fork(self) -> None:
        self._started = time.monotonic()
        self._saving = self._next_save = 0.0
        self._unwatched, self._inherited_rank = [], _rank()
        self._program = f"a fork of {self._program.removeprefix('a fork of ')}"

    def _rank_and_name(self) -> tuple[str, str]:
        """Its rank, and its name. A worker that a rank forks is no rank."""
        rank, name = _rank(), process_name() or self._program
        if rank and rank == self._inherited_rank:
            return "", f"{name} of rank {rank}"
        return rank, f"rank {rank}" if rank else name

    def note_command(self, words: Sequence[str], env: Mapping[Any, Any] | None) -> None:
        """Note a Python process that is started in a way in which it does not load our `sitecustomize`."""
        alone = _is_isolated(words[1:]) or (env is not None and _FOLDER not in env)
        if _PYTHON.search(words[0]) and alone:
            self._unwatched.append(" ".join([Path(words[0]).name, *words[1:]])[:_LONGEST])


def _is_isolated(words: Sequence[str]) -> bool:
    for word in words:
        if not word.startswith("-") or word in ("-m", "-c", "-"):
            return False
        if not word.startswith("--") and set(word) & set("IES"):
            return True
    return False


def _rank() -> str:
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return str(distributed.get_rank())
    return os.environ.get("RANK", "")


@contextmanager
def watching_processes(program: str) -> Iterator[ProcessReports]:
    """Inside the block, processes that are started write their reports."""
    folder = Path(tempfile.mkdtemp(prefix="graphbreak-processes-"))
    (folder / "sitecustomize.py").write_text(_START.format(folder=str(folder), root=str(_ROOT)), "utf-8")
    before = {name: os.environ.get(name) for name in (_FOLDER, "PYTHONPATH")}
    os.environ[_FOLDER] = str(folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), before["PYTHONPATH"])))
    reports = ProcessReports(folder, program, is_child=False)
    try:
        with noting_commands(reports.note_command):
            yield reports
    finally:
        if not reports.is_child:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
            shutil.rmtree(folder, ignore_errors=True)


def watch_when_needed() -> None:
    """In a process that a watched program has started: watch it from the moment at which it imports Dynamo."""
    folder = os.environ.get(_FOLDER)
    if not folder or any(_HELPER in word for word in sys.orig_argv):
        return

    def watch(module: ModuleType) -> None:
        setattr(sys.modules["torch"], "_dynamo", module)  # noqa: B010 - Python does it only after this
        from repro_runner.explain.watching import explain

        reports, undo = ProcessReports(Path(folder), sys.argv[0], is_child=True), ExitStack()
        report = undo.enter_context(explain(reports.keep_up))
        undo.enter_context(noting_commands(reports.note_command))
        undo.enter_context(saving_at_exit(reports, report, undo))

    AfterImport({"torch._dynamo": watch}).install()


@contextmanager
def saving_at_exit(
    reports: ProcessReports, report: Report, undo: ExitStack, leaving: Callable[[int], int] | None = None
) -> Iterator[None]:
    """A child writes its report before it ends, also with `os._exit`. In the program's own process, `os._exit` calls
    `leaving` with the exit code first, and takes the one that it returns."""
    leave = os._exit

    def save() -> None:
        if reports.is_child:
            undo.close()
            reports.save(report, ended=True)

    def leave_with_report(status: int) -> NoReturn:
        try:
            save()
            if not reports.is_child and leaving is not None:
                undo.close()
                status = leaving(status)
        finally:  # never return to the program
            leave(status)

    os._exit = leave_with_report
    atexit.register(save)
    try:
        yield
    finally:
        os._exit = leave
        atexit.unregister(save)


def _merge(report: Report, parts: Sequence[_Part], in_order: Callable[[Iterable[Site]], Iterable[Site]]) -> None:
    """Make one report of all. A part is named by its rank, so that ranks can be compared; others by their name."""
    folder = Path.cwd()
    own = _Part(started=0.0, rank="", name="the program itself", report=replace(report), ended=True, unwatched=())
    alike: Counter[str] = Counter()
    gathered, graphs, processes = Gathering(), dict[str, int](), []
    for part in (own, *parts) if report.totals.compilations else parts:
        alike[part.name] += 1
        name = part.name if alike[part.name] == 1 else f"{part.name} ({alike[part.name]})"
        for site in part.report.sites:
            gathered.add(replace(site, ranks={part.rank or name: site.count}))
        if part.rank:
            graphs[part.rank] = graphs.get(part.rank, 0) + part.report.totals.graphs
        note = "" if part.ended else _KILLED
        processes.append(Process(name=name, totals=part.report.totals, sites=len(part.report.sites), note=note))
    report.environment = report.environment if report.totals.compilations else parts[0].report.environment
    others = [part.report for part in parts]
    report.sites = tuple(in_order(gathered.breaks))
    report.recompiles += tuple(one for other in others for one in other.recompiles)
    report.totals = _sum([report.totals, *(other.totals for other in others)])
    report.reports += sum(other.reports for other in others)
    report.unlisted = Counter(report.unlisted) + sum((Counter(other.unlisted) for other in others), Counter())
    report.compared = report.compared and all(other.compared for other in others)
    report.processes = tuple(processes)
    of_ranks = [replace(site, ranks={rank: n for rank, n in site.ranks.items() if rank in graphs}) for site in report]
    report.differences = tuple(
        find_differences(of_ranks, graphs, lambda site: shown_place(site.file, site.line, folder))
    )


def _sum(totals: Sequence[Totals]) -> Totals:
    return Totals(
        graphs=sum(one.graphs for one in totals),
        ops=sum(one.ops for one in totals),
        frames=sum(one.frames for one in totals),
        compilations=sum(one.compilations for one in totals),
        compile_seconds=sum(one.compile_seconds for one in totals),
    )
