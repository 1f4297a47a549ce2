"""How fast `graphbreak log` reads: tt-xla text, a +dynamo log and a structured trace, beside `grep -c` and tlparse.

CPU seconds of this machine and this moment, files in the cache. The files are made here, from recorded logs and from
the described form of those of tt-xla, and deleted at the end: a gigabyte of disk is needed. tlparse writes pages, too.
`--against COMMIT` reads the same files with the reader of that commit, in turn with today's.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from registry.knowledge import read_package  # noqa: E402
from registry.matching import Matcher  # noqa: E402
from registry.merge import merge_registry  # noqa: E402
from repro_runner.logs.analysis import find_format  # noqa: E402
from repro_runner.logs.blocks import Stream  # noqa: E402
from repro_runner.logs.model import Input, LogPart  # noqa: E402
from tests.repro_runner.fixtures.tt_xla_logs import Compiled, as_bytes, breaking, compiling, tracing  # noqa: E402

RECORDED = ROOT / "tests" / "repro_runner" / "fixtures"
TIMES = 3


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A file to read, and what `grep -c` is asked to count in it."""

    name: str
    megabytes: int
    pieces: Callable[[], Iterator[bytes]]
    pattern: str


SUBJECTS = (
    Subject(name="tt-xla", megabytes=500, pieces=lambda: tt_xla_pieces(), pattern="MLIR Module vhlo:"),
    Subject(name="+dynamo", megabytes=200, pieces=lambda: dynamo_pieces(), pattern="Graph Break Reason"),
    Subject(name="+dynamo, no report twice", megabytes=200, pieces=lambda: new_pieces(), pattern="Graph Break Reason"),
    Subject(name="other text", megabytes=200, pieces=lambda: text_pieces(), pattern="loss"),
    Subject(name="trace", megabytes=200, pieces=lambda: trace_pieces(), pattern='"dynamo_graph_break_reason"'),
)


READER = """
import sys, time
from pathlib import Path
from benchmarks.logs import read
from registry.knowledge import read_package
from registry.matching import Matcher
from registry.merge import merge_registry
matcher = Matcher.from_registry(merge_registry(read_package()))
start = time.process_time()
read(Path(sys.argv[1]), matcher)
print(time.process_time() - start)
"""


def main() -> None:
    """Print one table."""
    if sys.argv[1:2] == ["--against"]:
        compare_readers(sys.argv[2])
        return
    matcher = Matcher.from_registry(merge_registry(read_package()))
    tlparse = shutil.which("tlparse", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    print("| log | MB | reader, MB/s | `graphbreak log` | `grep -c` | reader to grep | tlparse | found |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for subject in SUBJECTS:
            path = Path(folder) / f"{subject.name}.log"
            write_log(path, subject)
            print(measure(path, subject, matcher, tlparse), flush=True)
            path.unlink()


def measure(path: Path, subject: Subject, matcher: Matcher, tlparse: str | None) -> str:
    """One row."""
    size = path.stat().st_size / 1e6
    part = read(path, matcher)
    reader = size / cpu_seconds(lambda: read(path, matcher))
    command = [sys.executable, "-m", "repro_runner", "log", "--format", "json", str(path)]
    verb = size / cpu_seconds(lambda: json.loads(run(command)))
    grep = size / cpu_seconds(lambda: run(["grep", "-c", subject.pattern, str(path)]))
    others = "—"
    if tlparse and subject.name == "trace":
        pages = str(path.with_suffix(".pages"))
        arguments = [tlparse, str(path), "-o", pages, "--overwrite", "--no-browser"]
        others = f"{size / cpu_seconds(lambda: run(arguments)):.0f}"
    found = f"{part.graphs or 0:,} graphs, {sum(one.count for one in part.breaks):,} reports of breaks"
    ratio = f"{reader / grep:.2f}"
    return f"| {subject.name} | {size:.0f} | {reader:.0f} | {verb:.0f} | {grep:.0f} | {ratio} | {others} | {found} |"


def compare_readers(commit: str) -> None:
    """Print how fast both readers are, and their ratio: medians of runs that alternate."""
    print("| log | MB | this reader, MB/s | the other, MB/s | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder, "other")
        other.mkdir()
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", str(other)], input=archive, check=True)
        for subject in SUBJECTS:
            path = Path(folder) / f"{subject.name}.log"
            write_log(path, subject)
            size = path.stat().st_size / 1e6
            times: dict[Path, list[float]] = {ROOT: [], other: []}
            for _ in range(TIMES):
                for tree, taken in times.items():
                    command = [sys.executable, "-c", READER, str(path)]
                    taken.append(float(subprocess.run(command, cwd=tree, capture_output=True, check=True).stdout))
            mine, theirs = (size / statistics.median(taken) for taken in times.values())
            print(f"| {subject.name} | {size:.0f} | {mine:.0f} | {theirs:.0f} | {mine / theirs:.2f} |", flush=True)
            path.unlink()


def read(path: Path, matcher: Matcher) -> LogPart:
    """What the command does with one file, without its start and its output."""
    with path.open("rb") as raw:
        blocks = Stream(raw).blocks()
        first = next(blocks)
        found = find_format(first)
        assert found is not None
        reader = found.open_reader(Input(log=path.name, matcher=matcher))
        for block in chain([first], blocks):
            reader.feed(block)
        return reader.finish()


def run(command: list[str]) -> bytes:
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "LC_ALL": "C"}, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()[-2000:]
    return done.stdout


def cpu_seconds(work: Callable[[], object]) -> float:
    """The median of a few runs, children included."""
    times = []
    for _ in range(TIMES):
        before = _cpu()
        work()
        times.append(_cpu() - before)
    return statistics.median(times)


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def write_log(path: Path, subject: Subject) -> None:
    with path.open("wb") as file:
        for piece in subject.pieces():
            file.write(piece)
            if file.tell() >= subject.megabytes * 1e6:
                return


def text_pieces() -> Iterator[bytes]:
    """What a training prints that never breaks."""
    step = 0
    while True:
        yield b"".join(b"step %d loss 0.123 lr 1e-4 tokens/s 18234.1\n" % (step + at) for at in range(10_000))
        step += 10_000


def tt_xla_pieces() -> Iterator[bytes]:
    """Graphs of 30,000 operations in nine stages, split by Dynamo at one line."""
    number = 0
    graph = as_bytes(compiling(Compiled(operations=30_000, lines=range(10, 400))))
    while True:
        frame = f"{number}/0"
        function = f"torch_dynamo_resume_in_forward_at_{number}" if number else "forward"
        yield as_bytes(chain(tracing(function, 13, frame), breaking(13, frame)))
        yield graph
        number += 1


def dynamo_pieces() -> Iterator[bytes]:
    """A recorded log again and again, each time by another process."""
    return as_other_processes(unpacked(RECORDED / "recorded_logs" / "seven.dynamo.log.zst"))


def new_pieces() -> Iterator[bytes]:
    """The same, each time of another program: no two reports are the same text."""
    return (
        log.replace(b"/project/", b"/project-%d/" % number).replace(b"Message: ", b"Message %d: " % number)
        for number, log in enumerate(dynamo_pieces())
    )


def trace_pieces() -> Iterator[bytes]:
    """A recorded trace again and again, each time by another process."""
    return as_other_processes(unpacked(RECORDED / "recorded_traces" / "wav2vec2.trace_.log.zst"))


def unpacked(path: Path) -> bytes:
    with path.open("rb") as raw:
        return b"".join(Stream(raw).blocks())


def as_other_processes(log: bytes) -> Iterator[bytes]:
    header = re.search(rb"[VI]\d{4} [0-9:.]+ (\d+) torch/", log)
    assert header is not None
    number = 10_000
    while True:
        yield log.replace(b" " + header[1] + b" torch/", b" %d torch/" % number)
        number += 1


if __name__ == "__main__":
    main()
