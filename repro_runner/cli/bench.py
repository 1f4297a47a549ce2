"""`graphbreak bench`: measure models under several backends, and the cost of a break."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.datafile import check_writable, read_data_file, write_data_file
from registry.errors import InvalidInput, Problem, WriteFailed
from repro_runner.bench.catalogue import BACKENDS, MODELS, SIZES, Measurement
from repro_runner.bench.document import (
    Row,
    bench_document,
    break_cost_document,
    describe_machine,
    dump_document,
    file_name,
    lay_over,
)
from repro_runner.bench.suite import measure_in_child, measure_rows, plan_rows
from repro_runner.bench.text import render_catalogue, render_curves, render_rows
from repro_runner.cli import verb_parser
from repro_runner.cli.model_arguments import (
    DEVICE,
    a_device,
    add_decompositions,
    add_limit_arguments,
    positive_number,
    read_limits,
    whole_number,
)
from repro_runner.exit_codes import DONE, INTERRUPTED, NOT_AS_IT_SHOULD_BE
from repro_runner.output.suggestions import did_you_mean
from repro_runner.output.terminal import plain
from repro_runner.process.isolated import isolation
from repro_runner.runs import RunFolder

DESCRIPTION = """\
Measure models, each with each backend, in separate processes: the first call with an empty and with a filled cache,
latency, throughput, peak memory, graphs, breaks, violations of the mock accelerator's limits (MOCK_ALIGNMENT,
MOCK_DTYPES …), and whether the numbers equal eager's. Each row is held against the bandwidth of a plain copy and the
rate of a large matmul, both measured in its process. The results go into a run folder: bench.json, break_cost.json.
"""
EXIT_CODES = """\
exit codes:
  0    everything was measured, and equals eager
  1    something could not be measured, or differs from eager
  2    the arguments are not valid, or there is no torch or no GPU; nothing was measured
  130  interrupted; the finished rows are kept
"""


def main(argv: Sequence[str]) -> int:
    """Measure; return the exit code."""
    arguments = _parser().parse_args(argv)
    if arguments.list:
        print(render_catalogue())
        return DONE
    models = _models(arguments)
    environment = describe_machine(arguments.device)
    kinds = [*(["bench"] if models else []), *(["break_cost"] if arguments.break_cost else [])]
    files = _out_files(arguments, kinds, environment)
    subject = ", ".join([*models, *(["break cost"] if arguments.break_cost else [])])
    run = RunFolder.create("bench", subject=subject, environment=environment)
    keeper = _Keeper(run, files)
    try:
        well = [_bench(models, arguments, environment, keeper)] if models else []
        well += [_break_cost(arguments, environment, keeper)] if arguments.break_cost else []
    except KeyboardInterrupt:
        print(f"interrupted; {plain(run.path)} has what had ended", file=sys.stderr)
        return INTERRUPTED
    print(f"run {run.id}", file=sys.stderr)
    return DONE if all(well) else NOT_AS_IT_SHOULD_BE


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser("bench", DESCRIPTION, EXIT_CODES)
    parser.add_argument("--all", action="store_true", help=f"all models: {', '.join(MODELS)}")
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="NAME",
        help="one of them, or your own as MODEL.py:make_model; may be repeated",
    )
    parser.add_argument("--break-cost", action="store_true", help="one block with 0 to 16 breaks, eager and compiled")
    parser.add_argument("--list", action="store_true", help="show models with their parameters, and backends")
    parser.add_argument(
        "--backend",
        action="append",
        metavar="NAME",
        help=f"{', '.join(BACKENDS)}, another that torch knows, or your own as module:function; may be repeated "
        f"(default: {', '.join(BACKENDS)})",
    )
    parser.add_argument("--device", type=a_device, default="cpu", help=DEVICE)
    parser.add_argument("--gradients", action="store_true", help="a call is a forward and a backward")
    add_decompositions(parser, "a backend of your own gets aten's graphs after these, and not Dynamo's")
    parser.add_argument("--size", choices=SIZES, default="full", help="tiny: shrunk, for a quick try (default: full)")
    parser.add_argument("--warmup", type=whole_number, default=3, metavar="N", help="calls that don't count (3)")
    parser.add_argument("--runs", type=positive_number, default=20, metavar="N", help="measurements, at least (20)")
    add_limit_arguments(parser, "for one process")
    parser.add_argument("--json", action="store_true", help="each document as one line of JSON")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="PATH",
        help="also write to a .json file or a folder; rows of other models there stay",
    )
    return parser


def _models(arguments: argparse.Namespace) -> list[str]:
    asked = list(dict.fromkeys([*(MODELS if arguments.all else ()), *arguments.model]))
    if not asked and not arguments.break_cost:
        raise InvalidInput([Problem("bench", "nothing to measure; give --all, --model NAME or --break-cost")])
    problems = [Problem(name, why) for name in asked if (why := _why_unknown(name))]
    if problems:
        raise InvalidInput(problems)
    return asked


def _why_unknown(name: str) -> str:
    """Why there is no such model; empty if there may be one."""
    file, _, function = name.rpartition(":")
    if name in MODELS or (file and function and (not file.endswith(".py") or Path(file).is_file())):
        return ""
    if file:
        return "no such file"
    hint = did_you_mean(name, MODELS, most=1) or f"; there are {', '.join(MODELS)}."
    return f"no such model{hint} One's own: MODEL.py:make_model"


def _out_files(arguments: argparse.Namespace, kinds: Sequence[str], environment: dict[str, Any]) -> dict[str, Path]:
    """Where `--out` puts each kind of document. Raises InvalidInput early, before hours of work."""
    out: Path | None = arguments.out
    if out is None:
        return {}
    if out.suffix == ".json" and len(kinds) > 1:
        raise InvalidInput([Problem(str(out), "one file for two documents; name a folder")])
    folder = out.parent if out.suffix == ".json" else out
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(f"{folder}: {error.strerror}; name another folder") from error
    files = {kind: out if out.suffix == ".json" else out / file_name(kind, environment) for kind in kinds}
    for file in files.values():
        check_writable(file)
        _read_earlier(file)
    return files


def _read_earlier(path: Path) -> dict[str, Any]:
    """The document of an earlier run at this path. Raises InvalidInput if something else is there."""
    if not path.exists():
        return {}
    try:
        found = json.loads(read_data_file(path))
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("kind") not in ("bench", "break_cost"):
        raise InvalidInput([Problem(str(path), "something else is there; name another file")])
    return found


@dataclass(frozen=True, slots=True)
class _Keeper:
    """Writes a document into the run's folder and to `--out`, again each time the document grows."""

    run: RunFolder
    files: dict[str, Path]

    def keep(self, document: Mapping[str, Any]) -> None:
        self.run.write_json(f"{document['kind']}.json", document)
        if path := self.files.get(document["kind"]):
            write_data_file(path, dump_document(lay_over(_read_earlier(path), document)))


def _bench(models: list[str], arguments: argparse.Namespace, environment: dict[str, Any], keeper: _Keeper) -> bool:
    backends = arguments.backend or list(BACKENDS)
    _require_backends(backends, arguments)
    planned = plan_rows(models, backends, _measurement(arguments))
    rows: list[Row] = []
    keeper.keep(bench_document(environment, rows))
    for row in measure_rows(planned, read_limits(arguments)):
        rows.append(row)
        keeper.keep(bench_document(environment, rows))  # at once, so that a kill loses only the running model
        how = f"failed: {row['cause']}" if row["status"] == "failed" else "measured"
        line = f"{row['model']} {row['backend']}: {how} [{len(planned) - len(rows)} left]"
        print(plain(line), file=sys.stderr, flush=True)
    _print(bench_document(environment, rows), render_rows(rows), arguments)
    return all(row["status"] == "measured" and (row["numerics"] or {"passed": True})["passed"] for row in rows)


def _measurement(arguments: argparse.Namespace) -> Measurement:
    return Measurement(
        size=arguments.size,
        device=arguments.device,
        warmup=arguments.warmup,
        runs=arguments.runs,
        gradients=arguments.gradients,
        decompositions=arguments.decompositions or "",
    )


def _require_backends(names: Sequence[str], arguments: argparse.Namespace) -> None:
    """InvalidInput if there is no such backend, before hours of work. Only torch knows the names of others."""
    others = [name for name in names if name not in BACKENDS]
    if others:
        with isolation("repro_runner.graphs.by_name") as children:
            children.run("repro_runner.graphs.by_name:require_backends", {"names": others}, read_limits(arguments))


def _break_cost(arguments: argparse.Namespace, environment: dict[str, Any], keeper: _Keeper) -> bool:
    found = measure_in_child(_measurement(arguments), read_limits(arguments))
    if "failed" in found:
        print(plain(f"break cost: failed: {found['failed']}"), file=sys.stderr)
        return False
    document = break_cost_document(environment, found["curves"])
    keeper.keep(document)
    _print(document, render_curves(found["curves"]), arguments)
    return True


def _print(document: Mapping[str, Any], text: str, arguments: argparse.Namespace) -> None:
    print(json.dumps(document, ensure_ascii=False) if arguments.json else text)
