"""`graphbreak minify MODEL.py:make_model`: find the smallest program that fails in the same way as a model."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro_runner.cli import verb_parser
from repro_runner.cli.in_child import Done, Work, run_verb
from repro_runner.cli.model_arguments import (
    add_device_file,
    add_model_arguments,
    check_device_file,
    read_limits,
    read_model,
)
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain
from repro_runner.output.units import counted
from repro_runner.runs import RunFolder

if TYPE_CHECKING:
    from repro_runner.minifier import MinifiedProgram, Search

KINDS = ("auto", "violation", "compile", "numeric", "break")

EPILOG = """\
What is looked for, in this order (--kind auto), until something is found:
  violation  a limit of the device: of --device-file, or of the mock backend (MOCK_ALIGNMENT, MOCK_DTYPES ...)
  compile    the backend raises, ends the process, or hangs
  numeric    the results differ from eager
  break      a graph break; the result is a repro for registry/repros, only its fix is missing

The script needs only torch (and a third-party backend, which it imports by name), and was run to confirm that it fails.
Its own exit code is 1 while the failure is there, 0 when it is gone, 3 when something else is wrong.

exit codes:
  0    minified, and confirmed; or nothing fails
  1    something fails, but we found no program that fails in the same way on its own
  2    the arguments, the model or the capability file are not valid
  130  interrupted; nothing is kept
"""


def main(argv: Sequence[str]) -> int:
    """Print the program's path and the result of running it. Exit code 1 if the failure is not confirmed."""
    arguments = _parser().parse_args(argv)
    check_device_file(arguments)
    modules = ("repro_runner.minifier", "repro_runner.adapters")
    return run_verb("minify", argv, arguments, *modules, kind="minified", each=True)


def work(given: Work) -> Done:
    """In a child: look for a failure, minify it, and write a run."""
    arguments = _parser().parse_args(given["words"])
    run, search = _minify(arguments, given)
    fine = search.program.confirmed if search.program is not None else not search.unknown
    return Done(printed=_result(arguments, run, search), code=DONE if fine else NOT_AS_IT_SHOULD_BE)


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser(
        "minify", "Find the smallest program that fails in the same way as a model, and run it to confirm that.", EPILOG
    )
    add_model_arguments(parser, limit="for one run of the model or the backend", seconds=300)
    parser.add_argument("--kind", choices=KINDS, default="auto", help="what to look for; default: auto")
    parser.add_argument(
        "--backend", default="inductor", metavar="NAME", help="registered, or MODULE:ATTRIBUTE; default: inductor"
    )
    add_device_file(parser, "the limits: a device's capabilities")
    parser.add_argument("--rule", metavar="NAME", help="the violated limit to minify, for example shape-alignment")
    parser.add_argument("--id", metavar="GBxxxx", help="the graph break to minify; default: the first")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the program here, too")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    return parser


def _minify(arguments: argparse.Namespace, given: Work) -> tuple[RunFolder, Search]:
    from repro_runner.minifier import search_failure, write_search

    constraints = None
    if arguments.device_file is not None:
        from repro_runner.adapters import read_capabilities

        constraints = read_capabilities(arguments.device_file).constraints()
    subject = read_model(arguments)
    search = search_failure(
        subject,
        arguments.kind,
        backend=arguments.backend,
        constraints=constraints,
        rule=arguments.rule,
        gb_id=None if arguments.id is None else arguments.id.upper(),
        seconds=arguments.timeout,
        memory=read_limits(arguments).memory,
        say=lambda line: print(plain(line), file=sys.stderr),
    )
    run = RunFolder.create("minify", subject=subject.name, **given["manifest"], **_settings(arguments))
    write_search(run, search)
    if search.program is not None and arguments.out is not None:
        search.program.write(arguments.out)
    return run, search


def _result(arguments: argparse.Namespace, run: RunFolder, search: Search) -> str:
    from repro_runner.minifier import minified_document

    if arguments.json:
        return json.dumps({**minified_document(search), "run": run.id})
    if search.program is not None:
        lines = _lines(arguments, run, search.program)
    else:
        found = (f"  {kind}: {found}" for kind, found in search.tried.items())
        lines = [f"{arguments.model}: {'not minified' if search.unknown else 'nothing fails'}", *found]
    text = "\n".join([*lines, f"run {run.id}"])
    return "\n".join(map(plain, text.split("\n")))


def _lines(arguments: argparse.Namespace, run: RunFolder, program: MinifiedProgram) -> list[str]:
    path = arguments.out or run.path / "minified" / program.file_name
    lines = [
        f"{program.failure.kind}: {program.failure.summary}",
        f"  {counted(program.original_nodes, program.unit.removesuffix('s'))} -> {program.nodes}",
        f"  {path}" + (f", with {path.with_suffix('.pt').name}" if program.tensors else ""),
    ]
    if program.modules:
        lines.append(f"  needs besides torch: {', '.join(program.modules)}")
    if program.failure.kind == "break":
        lines.append("  its fix is for you to write: NO_FIX stands in its place")
    proof = "confirmed" if program.confirmed else "NOT confirmed: run on its own it does not fail in the same way"
    return [*lines, f"  {proof}: {program.output}"]


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "kind_asked": arguments.kind,
        "backend": arguments.backend,
        "device_file": None if arguments.device_file is None else str(arguments.device_file),
        "rule": arguments.rule,
        "gb_id": arguments.id,
        "seed": arguments.seed,
    }
