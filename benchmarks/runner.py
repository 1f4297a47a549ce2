"""The runner: forked from a warm parent against a fresh process per repro; and what capture costs a compilation.

Needs torch. Both ways run the same programs in one go, so the ratio holds on a noisy machine.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from registry.repros import read_repros  # noqa: E402
from repro_runner.runner.job import Job  # noqa: E402
from repro_runner.runner.pool import run_jobs  # noqa: E402

REPEATS = 9


def main() -> None:
    """Print two tables."""
    print_throughput()
    print_capture_cost()


def print_throughput() -> None:
    repros = read_repros(ROOT / "registry" / "repros")
    jobs = [Job(gb_id=gb_id, source=repro.source) for gb_id, repro in repros.items()]
    slots = os.cpu_count() or 1
    print(
        f"| {len(jobs)} repros, eager, {slots} at a time | s | repros per minute | times fresh | largest process, MiB |"
    )
    print("|---|---|---|---|---|")
    per_minute: dict[str, float] = {}
    verdicts = {}
    for isolate in ("process", "fork"):
        started = time.perf_counter()
        verdicts[isolate] = {
            ended.gb_id: ended.record["verdict"] for ended in run_jobs(jobs, isolate=isolate, slots=slots)
        }
        took = time.perf_counter() - started
        per_minute[isolate] = 60 * len(jobs) / took
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        label = {"process": "a fresh process each", "fork": "forked from a warm parent"}[isolate]
        ratio = per_minute[isolate] / per_minute["process"]
        print(f"| {label} | {took:.1f} | {per_minute[isolate]:.0f} | {ratio:.1f} | {largest:.0f} |")
    print(f"\nsame verdicts both ways: {'yes' if verdicts['fork'] == verdicts['process'] else 'NO'}")


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
    main()
