"""Write a report as JSON, and read it: `graphbreak explain --format json`, `--save`, `add`, `compare`.

This module does not need torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from registry import captured
from registry.advice import Advice, Advisor
from registry.documents import Document, document_text, head, read_document
from registry.errors import InvalidInput, Problem
from registry.ids import local_id, page_address
from registry.model import CapturedProgram
from repro_runner.capture.breaks import UserFrame
from repro_runner.explain.allowed import Judgement
from repro_runner.explain.render.formats import read_answers
from repro_runner.explain.render.view import Outcome, find_advice, find_other_message, message_address
from repro_runner.explain.report import Report
from repro_runner.explain.site import (
    Cost,
    CudaGraphSkip,
    Frequency,
    Observed,
    OwnFix,
    Process,
    Program,
    Recompile,
    Share,
    Site,
    Suggestion,
    Totals,
    WithFixes,
)

KIND = "explain"
SCHEMA = 6
_LOG = "log"
_NEWEST = {KIND: SCHEMA, captured.KIND: captured.SCHEMA, _LOG: 3}
"""The kinds of document that `read_saved` reads, with the newest schema of each."""
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError)
_SITE_FIELDS = (
    *("file", "line", "function", "source", "columns", "gb_ids", "gb_types", "kind", "message", "context"),
    *("explanation", "hints", "stack", "compiled", "ops_before", "ops_after", "recompiles", "lost_seconds"),
    *("compile_ids", "kinds", "untraced", "follows", "ranks", "cost", "own_fix"),
)


class ReportDocument(Document):
    """The report of a run. explain.schema.json (draft 2020-12) describes each site, recompile and category."""

    environment: dict[str, str]
    program: dict[str, Any]
    totals: dict[str, Any]
    sites: list[dict[str, Any]]
    recompiles: list[dict[str, Any]]
    cuda_graph_skips: list[dict[str, Any]]
    share: dict[str, Any] | None
    with_fixes: dict[str, Any] | None
    reports: int
    unlisted: dict[str, int]
    compared: bool
    processes: list[dict[str, Any]]
    differences: list[str]
    categories: list[dict[str, Any]]
    allow_list: dict[str, Any] | None
    suggestions: list[dict[str, Any]] | None


def outcome_text(outcome: Outcome) -> str:
    """The JSON text of a report, as it is printed and saved."""
    return document_text(report_document(outcome.report, read_answers(), outcome.judgement, outcome.suggestions))


def report_document(
    report: Observed,
    answers: Advisor,
    judgement: Judgement | None = None,
    suggestions: tuple[Suggestion, ...] | None = None,
) -> ReportDocument:
    """The report as a document. Each site has the registry's answers, and whether the allow-list allows it."""
    torch = report.environment.get("torch", "")
    return {
        **head(KIND, SCHEMA),
        "environment": dict(report.environment),
        "program": asdict(report.program),
        "totals": asdict(report.totals),
        "sites": [
            {
                **_site_document(site, answers, torch),
                "allowed": None if judgement is None else site in judgement.allowed,
            }
            for site in report.sites
        ],
        "recompiles": [asdict(one) for one in report.recompiles],
        "cuda_graph_skips": [asdict(one) for one in report.cuda_graph_skips],
        "share": {**asdict(report.share), "per_cent": report.share.per_cent} if report.share else None,
        "with_fixes": asdict(report.with_fixes) if report.with_fixes else None,
        "reports": report.reports,
        "unlisted": dict(report.unlisted),
        "compared": report.compared,
        "processes": [asdict(one) for one in report.processes],
        "differences": list(report.differences),
        "categories": [
            {
                "key": category.key,
                "title": category.title,
                "sites": len(gb_ids),
                "gb_ids": sorted(set(gb_ids)),
                "way_out": category.way_out,
            }
            for category, gb_ids in answers.by_category(site.gb_ids[0] for site in report.sites).items()
        ],
        "allow_list": None if judgement is None else _judgement_document(judgement),
        "suggestions": None if suggestions is None else [one.as_document() for one in suggestions],
    }


def _judgement_document(judgement: Judgement) -> dict[str, Any]:
    return {
        "new": len(judgement.new),
        "unused": [{"entry": entry.text, "origin": entry.origin} for entry in judgement.unused],
        "notes": list(judgement.notes),
    }


def _site_document(site: Site, answers: Advisor, torch: str) -> dict[str, Any]:
    fields = asdict(site)
    other = find_other_message(site, answers)
    return {
        **{key: fields[key] for key in _SITE_FIELDS},
        **fields["frequency"],
        "links": [message_address(other)] if other else [page_address(gb_id) for gb_id in site.gb_ids],
        "page": other.slug if other else "",
        "answers": [answer_document(answer) for answer in find_advice(site, answers, torch=torch)],
    }


def answer_document(answer: Advice) -> dict[str, Any]:
    """The registry's answer for one id, as JSON values."""
    return {
        "gb_id": answer.gb_id,
        "title": answer.gb_type,
        "lead": answer.lead,
        "category": answer.category.key,
        "hints": list(answer.hints),
        "broken": answer.broken,
        "fixes": [asdict(fix) for fix in answer.fixes],
        "isolated": [{"when": when, "code": code} for when, code in answer.isolated],
        "no_fix": answer.no_fix,
        "misfit": answer.misfit,
        "counsels": [one.text for one in answer.counsels],
        "stopped_in": answer.stopped_in,
    }


def read_saved(path: Path) -> Report | CapturedProgram:
    """Read a file that `graphbreak explain --save` or `log --format json` wrote, or a file of captured/.

    Raises InvalidInput, with the remedy, for any other file and for a damaged one.
    """
    content = read_document(path, _NEWEST, remedy="`graphbreak explain --save FILE SCRIPT` writes one")
    try:
        return _parse(content["kind"], content, path)
    except _MALFORMED as error:
        raise InvalidInput([Problem(str(path), f"a damaged file ({error!r}); save the run again")]) from error


def _parse(kind: str, content: Mapping[str, Any], path: Path) -> Report | CapturedProgram:
    if kind == captured.KIND:
        return captured.parse_captured(content, path.stem)
    if kind == _LOG:
        return _report_of_log(content)
    return report_from_document(content)


def _report_of_log(content: Mapping[str, Any]) -> Report:
    """The report of a log. A log does not count how often a break ran, and often does not name its torch."""
    return Report(
        environment={"torch": content["torch"]},
        sites=tuple(_logged_site(one) for one in content["breaks"] if one["gb_types"]),
        totals=Totals(graphs=content["graphs"] or 0),
    )


def _logged_site(one: Mapping[str, Any]) -> Site:
    fields = ("file", "line", "function", "source", "kind", "message", "context", "explanation")
    return Site(
        **{field: one[field] for field in fields},
        gb_ids=tuple(one["gb_ids"]) or tuple(map(local_id, one["gb_types"])),
        gb_types=tuple(one["gb_types"]),
        hints=tuple(one["hints"]),
        compiled=one["count"],
        frequency=Frequency(ran=None, why_unknown="a log tells of compilations"),
    )


def report_from_document(content: Mapping[str, Any]) -> Report:
    """Read a report from its document, without the answers. Raises KeyError, TypeError or ValueError if it can't."""
    return Report(
        environment=dict(content["environment"]),
        program=_program(content["program"]),
        sites=tuple(_site(one) for one in content["sites"]),
        recompiles=tuple(Recompile(**one) for one in content["recompiles"]),
        totals=Totals(**content["totals"]),
        cuda_graph_skips=tuple(CudaGraphSkip(**one) for one in content.get("cuda_graph_skips", ())),
        share=_share(content.get("share")),
        with_fixes=WithFixes(**content["with_fixes"]) if content.get("with_fixes") else None,
        reports=content.get("reports", 0),
        unlisted=content.get("unlisted", {}),
        compared=content.get("compared", False),
        processes=tuple(Process(**{**one, "totals": Totals(**one["totals"])}) for one in content.get("processes", ())),
        differences=tuple(content.get("differences", ())),
    )


def _share(content: Mapping[str, Any] | None) -> Share | None:
    return Share(**{key: value for key, value in content.items() if key != "per_cent"}) if content else None


def _cost(content: Mapping[str, Any] | None) -> Cost | None:
    """The cost of a site. Schema 3 had its fix there."""
    return Cost(**{key: content[key] for key in ("per_call", "calls", "why_unknown")}) if content else None


def _program(content: Mapping[str, Any]) -> Program:
    return Program(**{**content, "arguments": tuple(content["arguments"])})


def _site(content: Mapping[str, Any]) -> Site:
    fields = {key: content[key] for key in _SITE_FIELDS if key in content}
    lists = {key: tuple(fields[key]) for key in ("gb_ids", "gb_types", "hints", "compile_ids")}
    return Site(
        **{
            **fields,
            **lists,
            "columns": tuple((start, end) for start, end in content.get("columns", ())),
            "untraced": tuple(content["untraced"]) if content.get("untraced") else None,
            "cost": _cost(content.get("cost")),
            "own_fix": OwnFix(**content["own_fix"]) if content.get("own_fix") else None,
            "stack": tuple(UserFrame(**frame) for frame in content["stack"]),
            "recompiles": tuple(Recompile(**one) for one in content["recompiles"]),
            "frequency": Frequency(ran=content["ran"], why_unknown=content["why_unknown"]),
        }
    )
