"""Write an analysis as JSON: `graphbreak log --format json`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from registry.advice import Advisor
from registry.documents import Document, head
from registry.ids import SITE, page_address
from repro_runner.explain.document import answer_document
from repro_runner.explain.render.view import find_advice
from repro_runner.explain.site import Site
from repro_runner.logs.analysis import LogAnalysis, LogFile
from repro_runner.logs.model import FoundMessage

KIND = "log"
SCHEMA = 3
_BREAK_FIELDS = (
    *("gb_ids", "gb_types", "how", "message", "candidates", "kind", "file", "line", "function", "source"),
    *("explanation", "hints", "context", "count", "ranks", "compile_ids", "log", "log_line", "gone"),
)


class LogDocument(Document):
    """The analysis of all logs. log.schema.json (draft 2020-12) describes each break, category and file."""

    format: str
    torch: str
    graphs: int | None
    reports: int
    unknown: int
    breaks: list[dict[str, Any]]
    messages: list[dict[str, Any]]
    categories: list[dict[str, Any]]
    differences: list[str]
    files: list[dict[str, Any]]
    problems: list[dict[str, str]]
    interrupted: bool


def analysis_document(analysis: LogAnalysis, answers: Advisor) -> LogDocument:
    """The analysis as a document. Each break has the registry's answers for its ids."""
    return {
        **head(KIND, SCHEMA),
        "format": analysis.format,
        "torch": analysis.torch,
        "graphs": analysis.graphs,
        "reports": analysis.reports,
        "unknown": len(analysis.unknown),
        "breaks": [_break_document(one, answers, analysis.torch) for one in analysis.breaks],
        "messages": [_message_document(one, answers) for one in analysis.messages],
        "categories": list(_categories(analysis, answers)),
        "differences": list(analysis.differences),
        "files": [_file_document(file) for file in analysis.files],
        "problems": [{"where": one.where, "message": one.message} for one in analysis.problems],
        "interrupted": analysis.interrupted,
    }


def _break_document(one: Site, answers: Advisor, torch: str) -> dict[str, Any]:
    fields = asdict(one)
    return {
        **{key: fields["compiled" if key == "count" else key] for key in _BREAK_FIELDS},
        "how": one.how or "none",
        "links": [page_address(gb_id) for gb_id in one.gb_ids],
        "answers": [answer_document(answer) for answer in find_advice(one, answers, torch=torch)],
    }


def _message_document(one: FoundMessage, answers: Advisor) -> dict[str, Any]:
    known = answers.other_message(one.slug)
    return {
        **asdict(one),
        "title": known.title,
        "short": known.short,
        "ways_out": list(answers.on_recompiles([one.text] if one.guard else ()) or known.ways_out),
        "link": f"{SITE}/{known.page}",
    }


def _categories(analysis: LogAnalysis, answers: Advisor) -> Iterator[dict[str, Any]]:
    known = [one for one in analysis.breaks if one.gb_ids]
    for category, gb_ids in answers.by_category(one.gb_ids[0] for one in known).items():
        yield {
            "key": category.key,
            "title": category.title,
            "breaks": len(gb_ids),
            "reports": sum(one.count for one in known if one.gb_ids[0] in gb_ids),
            "gb_ids": sorted(set(gb_ids)),
            "way_out": category.way_out,
        }


def _file_document(file: LogFile) -> dict[str, Any]:
    part = asdict(file.part)
    return {
        "name": file.name,
        "bytes": file.bytes,
        "cut": file.cut,
        **{key: part[key] for key in ("format", "graphs", "rank", "torch", "errors", "notes", "unfit", "graph_list")},
        "breaks": len(file.part.breaks),
        "reports": sum(one.count for one in file.part.breaks),
        "details": part["details"],
    }
