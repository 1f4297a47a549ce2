"""The runner: forked from a warm parent against a fresh process per repro; and what capture costs a compilation.

Needs torch. Both ways run the same programs in one go, so the ratio holds on a noisy machine.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from registry.repros import read_repros  # noqa: E402
from repro_runner.runner.machine import ReproRun, ThisMachine  # noqa: E402

REPEATS = 9
STRIDE = 13
"""Every how manieth program is in the sample: all of them in fresh processes would take a quarter of an hour."""


def main(argv: Sequence[str]) -> int:
    """Print two tables. Exit code 2 for arguments: an earlier project measured models with a command of this name."""
    if argv:
        print(
            f"{' '.join(argv)}: this measures our own runner, and takes no arguments; to measure models: "
            "`graphbreak bench --all`, `graphbreak bench --model bert`",
            file=sys.stderr,
        )
        return 2
    print_throughput()
    print_capture_cost()
    return 0


def print_throughput() -> None:
    """The same sample both ways; the warm parent, its start included, runs it as often as makes a whole corpus."""
    repros = read_repros(ROOT / "registry" / "repros")
    sample = [ReproRun(program=name, source=repro.source) for name, repro in repros.items()][::STRIDE]
    slots = os.cpu_count() or 1
    print(f"| eager, {slots} at a time | programs | s | programs per minute | times fresh | peak memory, MiB |")
    print("|---|---|---|---|---|---|")
    fresh, fresh_verdicts = _measure("a fresh process each", "process", sample, slots)
    _, warm_verdicts = _measure("forked from a warm parent", "fork", sample * STRIDE, slots, fresh)
    print(f"\nsame verdicts both ways: {'yes' if warm_verdicts == fresh_verdicts else 'NO'}")


def _measure(
    label: str, isolate: str, jobs: list[ReproRun], slots: int, fresh: float | None = None
) -> tuple[float, dict[str, str]]:
    """Print a row; return programs per minute, and the verdicts."""
    machine = ThisMachine("cpu", isolate=isolate, slots=slots)
    started = time.perf_counter()
    with PeakMemory() as memory:
        verdicts = {ended.program: ended.record["verdict"] for ended in machine.run(jobs)}
    took = time.perf_counter() - started
    rate = 60 * len(jobs) / took
    print(f"| {label} | {len(jobs)} | {took:.1f} | {rate:.0f} | {rate / (fresh or rate):.1f} | {memory.peak:.0f} |")
    return rate, verdicts


class PeakMemory:
    """The most that this process and all below it held at a time; a page that several share counts once."""

    def __enter__(self) -> PeakMemory:
        self.peak, self._done = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            self.peak = max(self.peak, sum(map(_proportional_mib, _descendants(os.getpid()))))


def _descendants(pid: int) -> Iterator[int]:
    yield pid
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it ended while we looked
            for child in tasks.read_text().split():
                yield from _descendants(int(child))


def _proportional_mib(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def print_capture_cost() -> None:
    """Compile a transformer block with and without capture, in turn; medians of CPU time."""
    import torch

    from repro_runner.capture import capture_breaks

    torch.set_num_threads(1)
    block = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    x = torch.randn(2, 8, 64)

    def compile_once() -> float:
        torch._dynamo.reset()
        started = time.process_time()
        torch.compile(block, backend="aot_eager")(x)
        return time.process_time() - started

    def compile_captured() -> float:
        with capture_breaks():
            return compile_once()

    compile_once()
    plain, captured = [], []
    for _ in range(REPEATS):
        plain.append(compile_once())
        captured.append(compile_captured())
    cost = statistics.median(captured) / statistics.median(plain)
    print(f"\ncapture, compiling a transformer block (median of {REPEATS}): {cost:.3f} times the CPU time without")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
