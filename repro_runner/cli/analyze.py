"""`graphbreak analyze`: show the documents of a run as text."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from registry.documents import Document, head
from registry.errors import InvalidInput, Problem
from repro_runner.exit_codes import DONE
from repro_runner.output.terminal import plain
from repro_runner.report import RunContents, read_contents
from repro_runner.runs import RunFolder, find_run, list_runs
from repro_runner.runs.inventory import DOCUMENTS

TYPES = {
    "summary": (),
    "constraints": ("violations", "op_support"),
    "graphs": ("graphs",),
    "guards": ("guards",),
    "numerics": ("numerics",),
    "bench": ("bench",),
    "minified": ("minified",),
}
"""The values of --type, each with the parts that it shows. One of the parts must be there."""
_MAKES = {
    "constraints": "check MODEL.py:make_model",
    "graphs": "check MODEL.py:make_model",
    "guards": "guards MODEL.py:make_model",
    "numerics": "diff MODEL.py:make_model",
    "bench": "bench --all",
    "minified": "minify MODEL.py:make_model",
}


class AnalysisDocument(Document):
    """The start of what `--json` prints. The requested documents follow."""

    type: str
    run: str


def main(argv: Sequence[str]) -> int:
    """Print what a run has of a type. Exit code 2 if there is no such run, or nothing of that type in it."""
    parser = argparse.ArgumentParser(
        prog="graphbreak analyze",
        description="Show what a run found: guards, constraints, graphs, numerics, measurements, or a summary.",
    )
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="id, start of an id, or path; default: the newest run that has it"
    )
    parser.add_argument("--type", choices=sorted(TYPES), default="summary", help="default: summary")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    arguments = parser.parse_args(argv)
    run = find_run(arguments.run) if arguments.run else _newest_with(arguments.type)
    contents = read_contents(run, Path.cwd())
    found = _documents(contents, arguments.type)
    if arguments.json:
        about: AnalysisDocument = {**head("analysis"), "type": arguments.type, "run": contents.run.id}
        print(json.dumps({**about, **found}, indent=2))
        return DONE
    print(plain(f"{contents.run.id}  {contents.manifest.get('subject') or ''}".rstrip()))
    print("\n".join(_lines(contents, arguments.type)))
    return DONE


def _documents(contents: RunContents, asked: str) -> dict[str, Any]:
    """The documents of a type. Raises InvalidInput if there are none, or if one can't be read."""
    from repro_runner.report.parts.catalogue import judge_parts

    if asked == "summary":
        judged = judge_parts(contents)
        return {
            "parts": [
                {"part": each.part.kind, "state": each.verdict.state, "line": each.verdict.line} for each in judged
            ]
        }
    wanted = TYPES[asked]
    problems = [
        Problem(str(contents.run.path / DOCUMENTS.get(kind, kind)), why)
        for kind, why in contents.unreadable.items()
        if kind in wanted or (asked == "graphs" and kind.startswith("graphs/"))
    ]
    if problems:
        raise InvalidInput(problems)
    found: dict[str, Any] = {kind: contents.documents[kind] for kind in wanted if kind in contents.documents}
    if asked == "graphs" and contents.graphs:
        found["graphs"] = list(contents.graphs.values())
    if not found:
        raise InvalidInput([Problem(contents.run.id, _advice_if_missing(asked))])
    return found


def _newest_with(asked: str) -> RunFolder:
    """The newest run that has something of the type. Raises InvalidInput if there is none."""
    newest = find_run()
    if asked == "summary":
        return newest
    if others := _runs_with(asked):
        return others[-1]
    raise InvalidInput([Problem(str(newest.path.parent), f"no run has {asked}; {_how_to_make(asked)}")])


def _advice_if_missing(asked: str) -> str:
    """Advice for a run that has nothing of the type: name a run that has it, or the verb that makes it."""
    others = _runs_with(asked)
    newest = f"; the newest that has is {others[-1].id}" if others else ""
    return f"this run has no {asked}; {_how_to_make(asked)}{newest}"


def _how_to_make(asked: str) -> str:
    return f"`graphbreak {_MAKES[asked]}` makes a run that has"


def _runs_with(asked: str) -> list[RunFolder]:
    files = ["graphs/0000/graph.json"] if asked == "graphs" else [DOCUMENTS[kind] for kind in TYPES[asked]]
    return [run for run in list_runs() if any(map(run.has, files))]


def _lines(contents: RunContents, asked: str) -> Iterator[str]:
    """The lines to print. Raises InvalidInput if a document has the wrong contents."""
    from repro_runner.report import text
    from repro_runner.report.parts.catalogue import MALFORMED, damaged

    shown: dict[str, Callable[[RunContents], Iterator[str]]] = {
        "summary": text.summary_lines,
        "constraints": text.constraints_lines,
        "graphs": text.graphs_lines,
        "guards": text.guards_lines,
        "numerics": text.numerics_lines,
        "bench": text.bench_lines,
        "minified": text.minified_lines,
    }
    try:
        yield from list(shown[asked](contents))
    except MALFORMED as error:
        raise InvalidInput([Problem(str(contents.run.path), damaged(error))]) from error
