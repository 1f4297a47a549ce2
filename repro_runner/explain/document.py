"""A report as JSON, and back: `graphbreak explain --format json`, `--save`, `add`, `compare`. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from registry.advice import Answer, Answers
from registry.ids import page_address
from repro_runner.capture.breaks import UserFrame
from repro_runner.explain.allowed import Judgement
from repro_runner.explain.report import Program, Report, Totals
from repro_runner.explain.site import Frequency, Recompile, Site
from repro_runner.explain.suggestion import Suggestion

KIND = "explain"
SCHEMA = 1
_SITE_FIELDS = (
    *("file", "line", "function", "source", "columns", "gb_ids", "gb_types", "kind", "message", "context"),
    *("explanation", "hints", "stack", "compiled", "ops_before", "ops_after", "recompiles", "lost_seconds"),
    "compile_ids",
)
_SCHEMA_FILE = Path(__file__).with_name("explain.schema.json")


def read_schema() -> str:
    """The JSON Schema (draft 2020-12) that every such document satisfies."""
    return _SCHEMA_FILE.read_text("utf-8")


def report_document(
    report: Report,
    answers: Answers,
    judgement: Judgement | None = None,
    suggestions: tuple[Suggestion, ...] | None = None,
) -> dict[str, Any]:
    """Everything in the report, and for each site what the registry knows of its ids and whether it is allowed."""
    torch = report.environment.get("torch", "")
    return {
        "kind": KIND,
        "schema": SCHEMA,
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


def _site_document(site: Site, answers: Answers, torch: str) -> dict[str, Any]:
    fields = asdict(site)
    known = (answers.answer(gb_id, torch=torch) for gb_id in site.gb_ids)
    return {
        **{key: fields[key] for key in _SITE_FIELDS},
        **fields["frequency"],
        "links": [page_address(gb_id) for gb_id in site.gb_ids],
        "answers": [answer_document(answer) for answer in known if answer is not None],
    }


def answer_document(answer: Answer) -> dict[str, Any]:
    """What the registry knows of one id."""
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
        "stopped_in": answer.stopped_in,
    }


def report_from_document(content: Mapping[str, Any]) -> Report:
    """The report again, without the answers. KeyError, TypeError or ValueError for what is no such document."""
    return Report(
        environment=dict(content["environment"]),
        program=_program(content["program"]),
        sites=tuple(_site(one) for one in content["sites"]),
        recompiles=tuple(Recompile(**one) for one in content["recompiles"]),
        totals=Totals(**content["totals"]),
    )


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
            "stack": tuple(UserFrame(**frame) for frame in content["stack"]),
            "recompiles": tuple(Recompile(**one) for one in content["recompiles"]),
            "frequency": Frequency(ran=content["ran"], why_unknown=content["why_unknown"]),
        }
    )
