"""How fast messages are named: building the matcher, then logs of 10 MB, from no break at all to nothing else.

CPU seconds of this machine and this moment; `grep -c`, a bare loop over the lines, is what to compare with.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from registry.matching import Matcher  # noqa: E402
from registry.merge import Knowledge, merge_registry  # noqa: E402
from registry.releases import read_releases  # noqa: E402
from registry.snapshot import read_snapshot  # noqa: E402

MEGABYTES = 10
HEADER = "V1115 03:15:57.{number:06} 5873 torch/_dynamo/symbolic_convert.py:5124] [0/0] "
MESSAGE = (
    "Graph break in user code at /home/user/model.py:{number}",
    "Graph Break Reason: Data-dependent branching",
    "  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Nothing new.",
    "  Hint: Use `torch.cond` to express dynamic control flow.",
    "",
    "  Developer debug context: attempted to jump with TensorVariable()",
    "",
    " For more details about this graph break, please visit: https://example.invalid/gb/gb0170.html",
    "",
    "User code traceback:",
    '  File "/home/user/model.py", line {number}, in forward',
)


def main() -> None:
    """Print two tables."""
    snapshot = read_snapshot(ROOT / "registry" / "snapshot")
    known = Knowledge(
        wordings=snapshot.wordings,
        origin=snapshot.origin,
        superseded=snapshot.superseded,
        releases=read_releases(ROOT / "registry" / "releases"),
    )
    registry = merge_registry(known)
    print("| committed registry | ms |\n|---|---|")
    print(f"| build the matcher | {1000 * seconds(lambda: Matcher.from_registry(registry)):.0f} |")
    matcher = Matcher.from_registry(registry)
    print("\n| log | MB/s | messages | a bare loop, MB/s |\n|---|---|---|---|")
    for name, block in {
        "compiler text, no break": lambda number: [f"%{number} = stablehlo.add %3, %4 : tensor<32x32xbf16> loc(#loc5)"],
        "+dynamo, no break": lambda number: [HEADER.format(number=number) + "[__trace_bytecode] TRACE LOAD_FAST x []"],
        "one message in 1000 lines": lambda number: record(number, MESSAGE) + ["step 12 loss 0.123 lr 1e-4"] * 1000,
        "messages only": lambda number: record(number, MESSAGE),
        "messages only, no link": lambda number: record(number, MESSAGE[:7] + MESSAGE[8:]),
        "unknown types, no link": lambda number: record(number, (f"Graph Break Reason: new {number}", *MESSAGE[2:6])),
    }.items():
        lines = repeat(block)
        size = sum(map(len, lines)) / 1e6
        messages = sum(1 for _ in matcher.find_messages(lines))
        took = seconds(lambda lines=lines: sum(1 for _ in matcher.find_messages(lines)))  # type: ignore[misc]
        bare = seconds(lambda lines=lines: sum("gb0170" in line for line in lines))  # type: ignore[misc]
        print(f"| {name} | {size / took:.0f} | {messages:,} | {size / bare:.0f} |")


def record(number: int, message: tuple[str, ...]) -> list[str]:
    return [f"{HEADER.format(number=number)}[__graph_breaks] {line.format(number=number)}" for line in message]


def repeat(block: Callable[[int], list[str]]) -> list[str]:
    """Lines of the block with growing numbers, up to the size."""
    lines: list[str] = []
    size = number = 0
    while size < MEGABYTES * 1e6:
        new = [line + "\n" for line in block(number)]
        lines += new
        size += sum(map(len, new))
        number += 1
    return lines


def seconds(work: Callable[[], object]) -> float:
    """The median CPU time of three."""
    times = []
    for _ in range(3):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return statistics.median(times)


if __name__ == "__main__":
    main()
