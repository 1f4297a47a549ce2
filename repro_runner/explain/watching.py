"""Watch a program compile and run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import CodeType

import torch
from torch._dynamo import convert_frame

from repro_runner.capture.identify import Identifier
from repro_runner.capture.recorder import Recorder, TakenFrame
from repro_runner.environment import describe_environment
from repro_runner.explain.compilations import Compilations
from repro_runner.explain.counting import Tally, counted
from repro_runner.explain.report import Report
from repro_runner.explain.sites import Seen, find_recompiles, find_sites, find_totals


@contextmanager
def explain() -> Iterator[Report]:
    """Record every break of this process; the report is filled when the block ends, also by an exception.

    All threads are watched. Breaks are seen when a frame is compiled: what was compiled before the block is not in the
    report, and runs as it did. Blocks nest. Code that was compiled inside keeps its counters, of some ten nanoseconds a
    call, afterwards.
    """
    report = Report()
    watch = _Watch()
    try:
        with ExitStack() as undo:
            watch.install(undo)
            yield report
    finally:
        seen = watch.seen()
        report.environment = _environment()
        report.sites = find_sites(seen)
        report.recompiles = find_recompiles(seen.compilations)
        report.totals = find_totals(seen.compilations)


class _Watch:
    """What is looked at while the block lasts."""

    def __init__(self) -> None:
        self._recorder = Recorder(Identifier())
        self._compilations = Compilations(self._recorder)
        self._tallies: dict[TakenFrame, Tally] = {}

    def install(self, undo: ExitStack) -> None:
        self._recorder.install(undo)
        self._compilations.install(undo)
        if hasattr(convert_frame, "register_bytecode_hook"):
            undo.callback(convert_frame.register_bytecode_hook(self._count).remove)

    def _count(self, code: CodeType, new_code: CodeType) -> CodeType | None:  # noqa: ARG002  torch's signature
        """Called by Dynamo with the code that it made of a frame; what comes back is installed in its place."""
        frame = self._recorder.current_frame()
        if frame is None or not any(one.kind == "resumed" for one in frame.raised):
            return None
        if getattr(torch._dynamo.config, "caching_precompile", False):
            return None  # this code goes to disk, where a counter can't go
        tally = Tally()
        changed = counted(new_code, tally)
        if changed is not None:
            self._tallies[frame] = tally
        return changed

    def seen(self) -> Seen:
        return Seen(
            recorder=self._recorder,
            compilations=tuple(self._compilations.seen),
            rests=self._compilations.rests,
            ran={frame: tally.read() for frame, tally in self._tallies.items()},
        )


def _environment() -> dict[str, str]:
    """As in an evidence file; asks nobody outside this process."""
    here = describe_environment("cpu")
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return {**here, "device": "cuda", "device_name": torch.cuda.get_device_name()}
    return here
