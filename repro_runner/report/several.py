"""Several runs side by side: what each found, how many passed, the worst first. Verdicts are those of each report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from registry.documents import Document, head
from repro_runner.output.units import magnitude, seconds
from repro_runner.report.contents import LARGEST_TOTAL, Attachments, RunContents, subject_of
from repro_runner.report.parts import BREAKS, DOUBT, MARKS, PLAIN, WORKS, fold
from repro_runner.report.parts.bench import bench_ratios
from repro_runner.report.parts.catalogue import MALFORMED, PARTS, judge_parts
from repro_runner.report.parts.device import worst_violations
from repro_runner.report.parts.numerics import read_pictures

_WORST_FIRST = (BREAKS, DOUBT, PLAIN, WORKS)


class RunSummary(TypedDict):
    """One of the runs. `path` is how the others of these documents name it."""

    path: str
    id: str
    verb: str
    subject: str
    started: str
    environment: dict[str, Any]


class PartResult(TypedDict):
    """A part of a run with its verdict: state and line as in that run's own report."""

    run: str
    subject: str
    part: str
    state: str
    line: str
    figures: dict[str, Any]


class ReportsDocument(Document):
    """report.json over several runs. All lists have the worst first, except `runs`: the oldest."""

    runs: list[RunSummary]
    unreadable: dict[str, str]
    """Path of a run whose manifest can't be read -> why."""
    models: list[str]
    pass_rates: dict[str, dict[str, int]]
    """Part -> state -> how many results; `not_run` counts the models of which no run has the part."""
    results: list[PartResult]
    violations: list[dict[str, Any]]
    """By run, rule, op and kind of message: how many, with one of them as the example."""
    bench: list[dict[str, Any]]
    """By run, model and backend: the time, and eager's time divided by it."""


def reports_document(found: Sequence[RunContents], unreadable: Mapping[str, str]) -> ReportsDocument:
    """What these runs found."""
    newest_first = [result for contents in reversed(found) for result in _results(contents)]
    results = sorted(newest_first, key=_badness)
    by_path = {str(contents.run.path): contents for contents in found}
    worst = [by_path[path] for path in dict.fromkeys([*(result["run"] for result in results), *by_path])]
    return {
        **head("reports"),
        "runs": list(map(summary_of, found)),
        "unreadable": dict(unreadable),
        "models": list(dict.fromkeys(model for contents in worst for model in _models(contents))),
        "pass_rates": {part.kind: _pass_rate(part.kind, found, results) for part in PARTS},
        "results": results,
        "violations": [row for contents in worst for row in rows_of("violations", worst_violations, contents)],
        "bench": sorted(
            (row for contents in worst for row in rows_of("bench", bench_ratios, contents)),
            key=lambda row: row["against_eager"] or 0.0,
        ),
    }


def summary_of(contents: RunContents) -> RunSummary:
    """The head of a run, as a list of runs shows it."""
    manifest = contents.manifest
    environment = manifest.get("environment")
    return {
        "path": str(contents.run.path),
        "id": contents.run.id,
        "verb": str(manifest.get("verb", "")),
        "subject": subject_of(contents),
        "started": str(manifest.get("started", "")),
        "environment": environment if isinstance(environment, dict) else {},
    }


def _results(contents: RunContents) -> list[PartResult]:
    return [
        {
            "run": str(contents.run.path),
            "subject": subject_of(contents),
            "part": each.part.kind,
            "state": each.verdict.state,
            "line": each.verdict.line,
            "figures": dict(each.verdict.figures),
        }
        for each in judge_parts(contents)
    ]


def _badness(result: PartResult) -> tuple[int, float]:
    """For sorting: by state, then by the first figure. What could not be measured is the worst of its state."""
    try:
        figure = float(next(iter(result["figures"].values()), 0))
    except (TypeError, ValueError):
        figure = math.inf
    return _WORST_FIRST.index(result["state"]), -math.inf if math.isnan(figure) else -figure


def _pass_rate(kind: str, found: Sequence[RunContents], results: Sequence[PartResult]) -> dict[str, int]:
    own = [result for result in results if result["part"] == kind]
    there = {result["run"] for result in own}
    having = {model for each in found if str(each.run.path) in there for model in _models(each)}
    models = {model for each in found for model in _models(each)}
    counts = {state: sum(result["state"] == state for result in own) for state in MARKS}
    return {**counts, "not_run": len(models - having)}


def _models(contents: RunContents) -> list[str]:
    """The models that a run is about. The subject of a benchmark is a list of models, or no model at all."""
    if contents.manifest.get("verb") != "bench":
        return [subject_of(contents)]
    return list(dict.fromkeys(row["model"] for row in rows_of("bench", bench_ratios, contents)))


def rows_of(
    kind: str, read: Callable[[Mapping[str, Any], RunContents], list[dict[str, Any]]], contents: RunContents
) -> list[dict[str, Any]]:
    """The rows of a document; none if it is not there, or damaged, which its verdict says."""
    try:
        rows = read(contents.documents[kind], contents)
    except MALFORMED:
        return []
    return [{"run": str(contents.run.path), "subject": subject_of(contents), **row} for row in rows]


def several_view(document: ReportsDocument, found: Sequence[RunContents]) -> dict[str, Any]:
    """What the page over several runs shows. Of runs of a model that came to the same, the newest is shown."""
    where = {each["path"]: where_of(each) for each in document["runs"]}
    kinds = {result["part"] for result in document["results"]}
    sections = {part.kind: _section(part.kind, document, where) for part in PARTS if part.kind in kinds}
    by_path = {str(contents.run.path): contents for contents in found}
    by_run = _by_run(document)
    runs = {each["path"]: (each["subject"], each["verb"], where[each["path"]]) for each in document["runs"]}
    folded = fold(by_run, lambda run: (runs[run], *((each["part"], each["line"]) for each in by_run[run].values())))
    return {
        "where": where,
        "by_run": by_run,
        "rates": sorted(document["pass_rates"].items(), key=lambda rate: (-rate[1][BREAKS], -rate[1][DOUBT])),
        "tested": [(run, by_run[run], len(more)) for run, more in folded],
        "sections": list(sections.values()),
        "pictures": _pictures([by_path[row["run"]] for row in sections.get("numerics", {"rows": []})["rows"]]),
    }


def where_of(run: RunSummary) -> str:
    """`torch 2.13.0, cpu`."""
    known = run["environment"]
    return ", ".join(filter(None, [f"torch {known.get('torch', '?')}", str(known.get("device", ""))]))


def _by_run(document: ReportsDocument) -> dict[str, dict[str, PartResult]]:
    """Run -> part -> result. Models of which the most parts failed come first, in each the newest run."""
    found: dict[str, dict[str, PartResult]] = {each["path"]: {} for each in reversed(document["runs"])}
    failed: dict[str, dict[str, set[str]]] = {}
    for result in document["results"]:
        found[result["run"]][result["part"]] = result
        failed.setdefault(result["subject"], {}).setdefault(result["state"], set()).add(result["part"])
    subjects = {each["path"]: each["subject"] for each in document["runs"]}

    def badness(run: str) -> tuple[int, int, str]:
        states = failed.get(subjects[run], {})
        return -len(states.get(BREAKS, ())), -len(states.get(DOUBT, ())), subjects[run]

    return {run: found[run] for run in sorted(found, key=badness)}


def _section(kind: str, document: ReportsDocument, where: Mapping[str, str]) -> dict[str, Any]:
    own = [result for result in document["results"] if result["part"] == kind]
    folded = fold(own, lambda each: (each["subject"], each["state"], each["line"], where[each["run"]]))
    titles = list(dict.fromkeys(title for result in own for title in result["figures"]))
    rows: list[dict[str, Any]] = [
        {**result, "more": len(more), "cells": [magnitude(result["figures"].get(title)) for title in titles]}
        for result, more in folded
    ]
    details: dict[str, list[dict[str, Any]]] = {row["run"]: [] for row in rows}
    for each in document["violations"] if kind == "violations" else ():
        if each["run"] in details:
            details[each["run"]].append(each)
    view = {"kind": kind, "state": own[0]["state"], "titles": titles, "rows": rows, "details": details}
    return {**view, **_bench_table(document)} if kind == "bench" else view


def _bench_table(document: ReportsDocument) -> dict[str, Any]:
    """Models by backends; the model that a backend slows down most comes first."""
    backends = sorted({row["backend"] for row in document["bench"]}, key=lambda name: (name != "eager", name))
    models: dict[tuple[str, str], dict[str, Any]] = {}
    for row in document["bench"]:
        time = "" if row["seconds"] is None else seconds(row["seconds"])
        models.setdefault((row["run"], row["model"]), {})[row["backend"]] = {**row, "time": time}
    return {"backends": backends, "models": models}


def _pictures(found: Sequence[RunContents]) -> list[dict[str, Any]]:
    """Pictures of these runs, the largest error first, as long as there is room for them."""
    left, pictures = LARGEST_TOTAL, []
    for contents in found:
        files = Attachments(contents.run, left)
        pictures += pictures_of(contents, files)
        left = files.left
    return sorted(pictures, key=lambda picture: -picture["error"])


def pictures_of(contents: RunContents, files: Attachments) -> list[dict[str, Any]]:
    """The pictures of a run; none if its document is damaged."""
    return rows_of("numerics", lambda document, _: read_pictures(document, files), contents)
