"""`graphbreak watch FILE`: run a repro again each time it is saved, in a process that keeps torch imported."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from registry.evidence import BACKENDS
from repro_runner.cli.run import exit_code
from repro_runner.exit_codes import DONE, REFUSED
from repro_runner.process import Pool
from repro_runner.runner.machine import Finished, ReproRun, open_pool

_POLL_SECONDS = 0.1


def main(argv: Sequence[str]) -> int:
    """Watch until Ctrl-C. Exit code 2 if there is no such file."""
    parser = argparse.ArgumentParser(prog="graphbreak watch", description="Run a repro again whenever it is saved.")
    parser.add_argument("file", type=Path, metavar="FILE", help="a repro; its name is the id that it should give")
    parser.add_argument("--backend", choices=BACKENDS, default="eager")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--once", action="store_true", help="run it once and stop")
    arguments = parser.parse_args(argv)
    if not arguments.file.is_file() or arguments.file.suffix != ".py":
        print(f"{arguments.file}: no such Python file; `graphbreak new ID` starts one", file=sys.stderr)
        return REFUSED
    try:
        with open_pool(arguments.device) as pool:
            return _watch(pool, arguments)
    except KeyboardInterrupt:
        return DONE


def _watch(pool: Pool, arguments: argparse.Namespace) -> int:
    seen = b""
    while True:
        source = arguments.file.read_bytes() if arguments.file.is_file() else seen
        if source != seen:
            seen = source
            started = time.monotonic()
            text = source.decode("utf-8", "replace")
            run = ReproRun(program=arguments.file.stem, source=text, backend=arguments.backend, device=arguments.device)
            ended = Finished.of(pool.run(run.to_job()))
            print("\n".join(_lines(ended)), f"({time.monotonic() - started:.1f} s)\n", flush=True)
            if arguments.once:
                return exit_code(ended)
        time.sleep(_POLL_SECONDS)


def _lines(ended: Finished) -> list[str]:
    record = ended.record
    lines = [f"{ended.program}: {record['verdict']}"]
    if ended.problem:
        lines.append(f"  {ended.problem}")
    if "ids" in record:
        lines.append(
            f"  breaks {', '.join(record['ids']) or 'none'}; fullgraph {', '.join(record['ids_fullgraph']) or 'none'}"
        )
    lines += [f"  {name}: {found}" for name, found in {**record.get("fixes", {}), **record.get("isolated", {})}.items()]
    if record["verdict"] in ("failed", "other id", "stopped"):
        lines += [f"  | {line}" for line in (record.get("message") or ended.output).splitlines()[:30]]
    return lines
