"""The fix benchmark: its file for programs, and the page that says what is in it."""

from __future__ import annotations

import jinja2

from registry.fix_benchmark import LEFT_OUT, TASK, benchmark_text, make_benchmark
from registry.model import FRESH_SEEDS, SEEDS, Registry
from sitegen.api_links import API


def render_fix_benchmark(registry: Registry, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    benchmark = make_benchmark(registry)
    page = environment.get_template("fix_benchmark.md.j2").render(
        tasks=len(benchmark.tasks),
        counts=benchmark.counts,
        left_out=[(LEFT_OUT[reason], len(names)) for reason, names in benchmark.left_out.items() if names],
        programs=len(benchmark.tasks) + (others := sum(map(len, benchmark.left_out.values()))),
        others=others,
        task=TASK,
        inputs=len(SEEDS) + FRESH_SEEDS,
        fresh=FRESH_SEEDS,
    )
    return {"fix-benchmark.md": page, f"{API}/fix-benchmark.jsonl": benchmark_text(benchmark)}
