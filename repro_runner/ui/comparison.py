"""Two runs side by side: what each found, and where they differ. No streamlit here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from repro_runner.output.units import magnitude
from repro_runner.report.contents import Attachments, RunContents, subject_of
from repro_runner.report.page import describe_environment, describe_settings, shown_time
from repro_runner.report.parts import Verdict
from repro_runner.report.parts.catalogue import PARTS, judge_parts
from repro_runner.report.parts.device import worst_violations
from repro_runner.report.parts.dynamo import breaks_view, guards_view
from repro_runner.report.several import pictures_of, rows_of, summary_of

_EQUAL = {True: "equal", False: "differs"}
Sides = tuple[RunContents, RunContents]


def compare_contents(a: RunContents, b: RunContents) -> dict[str, Any]:
    """What the template shows of two runs. What is the same in both is left out, except for verdicts."""
    sides = (a, b)
    judged = [{each.part.kind: each.verdict for each in judge_parts(contents)} for contents in sides]
    return {
        "runs": [{**run, "when": shown_time(run["started"])} for run in map(summary_of, sides)],
        "settings": _different([dict(_settings(contents)) for contents in sides]),
        "verdicts": [
            {
                "title": part.title,
                "a": judged[0].get(part.kind),
                "b": judged[1].get(part.kind),
                "changed": _line(judged[0].get(part.kind)) != _line(judged[1].get(part.kind)),
            }
            for part in PARTS
            if part.kind in judged[0] or part.kind in judged[1]
        ],
        "figures": _different([_figures(verdicts) for verdicts in judged]),
        "only": [group for group in _only(sides) if group["a"] or group["b"]],
        "values": _values(sides),
        "pictures": _pictures(sides),
    }


def _settings(contents: RunContents) -> list[tuple[str, str]]:
    return [
        ("model", subject_of(contents)),
        *describe_settings(contents.manifest),
        *describe_environment(contents.manifest),
    ]


def _line(verdict: Verdict | None) -> str:
    return "" if verdict is None else verdict.line


def _figures(verdicts: Mapping[str, Verdict]) -> dict[str, str]:
    titles = {part.kind: part.title for part in PARTS}
    return {
        f"{titles[kind]}: {name}": magnitude(value)
        for kind, verdict in verdicts.items()
        for name, value in verdict.figures.items()
    }


def _different(sides: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    """(name, in A, in B) of what is not the same; a dash where one has none."""
    names = dict.fromkeys([*sides[0], *sides[1]])
    rows = ((name, sides[0].get(name, "–"), sides[1].get(name, "–")) for name in names)
    return [row for row in rows if row[1] != row[2]]


def _only(sides: Sides) -> Iterable[dict[str, Any]]:
    """What only one of the two has: violations, breaks, recompiles."""
    kinds = (
        ("Violations", _violations),
        ("Graph breaks", _breaks),
        ("Recompiles", _recompiles),
    )
    for title, read in kinds:
        a, b = (read(contents) for contents in sides)
        yield {"title": title, "a": [row for row in a if row not in b], "b": [row for row in b if row not in a]}


def _violations(contents: RunContents) -> list[tuple[str, ...]]:
    rows = rows_of("violations", worst_violations, contents)
    return [(row["op"], row["message"], f"({row['rule']}, {row['count']} times)") for row in rows]


def _breaks(contents: RunContents) -> list[tuple[str, ...]]:
    rows = rows_of("breaks", lambda document, whole: list(breaks_view(document, whole)["breaks"]), contents)
    return [(row["gb_id"], row["gb_type"], row["line"]["shown"] if row["line"] else "") for row in rows]


def _recompiles(contents: RunContents) -> list[tuple[str, ...]]:
    rows = rows_of("guards", lambda document, whole: list(guards_view(document, whole)["recompiles"]), contents)
    return [(row["function"], words) for row in rows for words in row["seen"]]


def _values(sides: Sides) -> list[tuple[str, str, str, str, str]]:
    """(name, error in A, error in B, verdict in A, verdict in B) of each value that both have, and that changed."""
    a, b = ({leaf["name"]: leaf for leaf in rows_of("numerics", _leaves, contents)} for contents in sides)
    rows = [
        (name, _error(a[name]), _error(b[name]), _EQUAL[bool(a[name]["passed"])], _EQUAL[bool(b[name]["passed"])])
        for name in a
        if name in b
    ]
    return [row for row in rows if row[1] != row[2] or row[3] != row[4]]


def _leaves(document: Mapping[str, Any], _contents: RunContents) -> list[dict[str, Any]]:
    return [{name: leaf[name] for name in ("name", "passed", "comparison")} for leaf in document["leaves"]]


def _error(leaf: Mapping[str, Any]) -> str:
    found = leaf["comparison"]
    return "–" if found is None else magnitude(found["max_absolute_error"])


def _pictures(sides: Sides) -> list[tuple[str, Any, Any]]:
    """(title, of A, of B), the largest error first."""
    a, b = ({row["title"]: row for row in pictures_of(each, Attachments(each.run))} for each in sides)
    return [(title, a.get(title), b.get(title)) for title in dict.fromkeys([*a, *b])]
