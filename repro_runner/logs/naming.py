"""From a message in a text log to a site: its chain, its place, what became of it."""

from __future__ import annotations

import re

from registry.matching import Match
from registry.message_layout import HEADER
from repro_runner.explain.site import Site
from repro_runner.logs.model import Input
from repro_runner.logs.surroundings import Surroundings

_COMPILE_ID = re.compile(r"\[(!?[0-9][0-9/]*)(?:_[0-9]+)?\]")
_LEFT_TO_PYTHON = ("falling back to eager", "Skipping the frame", "Skipping the function")
_GRAPH_BREAKS = "[__graph_breaks]"
_COMPILING = "COMPILING GRAPH due to"
_LONGEST = 100_000
"""Characters kept of a message; the longest that torch has printed has some thousands."""


def is_torchs(record: str) -> bool:
    """Whether a record is one of torch's loggers; else it is a rank, or nothing at all."""
    return HEADER.match(record) is not None


def is_report(match: Match) -> bool:
    """Whether torch says here that a graph broke; everything else is an exception, or mentions a break."""
    reason = match.opening.startswith("Graph Break Reason")
    return reason or (_GRAPH_BREAKS in match.record and not _is_bare(match))


def is_mention(match: Match) -> bool:
    """Whether it is in a record about something else, or a link without a message: it may be told elsewhere, too."""
    return is_torchs(match.record) or _is_bare(match)


def mentioning_record(match: Match) -> str:
    """The record that a mention is in; empty outside of any, and for a line that quotes several, as JSON does."""
    return match.record if is_torchs(match.record) and _GRAPH_BREAKS not in match.record else ""


def _is_bare(match: Match) -> bool:
    return not (match.opening or match.message.explanation or match.message.context)


def read_break(match: Match, source: Input, around: Surroundings) -> Site:
    """One report; function and source of its place may become known only later."""
    chain = [one for one in match.chain if one.gb_ids]
    cause = match.chain[0]
    file, _, line = match.message.location.rpartition(":")
    place = (file, int(line), "") if line.isdecimal() else around.given_up(match.record)
    rank = around.rank(match.record) or source.rank
    compile_id = _COMPILE_ID.search(match.record)
    return Site(
        gb_ids=tuple(dict.fromkeys(one.gb_ids[0] for one in chain)),
        gb_types=tuple({one.gb_ids[0]: one.message.gb_type for one in chain}.values()) or (cause.message.gb_type,),
        candidates=tuple(dict.fromkeys(gb_id for one in chain for gb_id in one.gb_ids[1:])),
        how=cause.how,
        kind=_kind(match),
        file=place[0],
        line=place[1],
        function=place[2],
        message=_whole_message(match),
        explanation=cause.message.explanation,
        hints=cause.message.hints,
        context=cause.message.context,
        ranks={rank: 1} if rank else {},
        compile_ids=(compile_id[1],) if compile_id else (),
        log=source.log,
        log_line=match.line,
    )


def _whole_message(match: Match) -> str:
    text = "\n\n".join(one.message.text for one in match.chain)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [… {len(text) - _LONGEST} more characters]"


def _kind(match: Match) -> str:
    """An exception ends the call; one that a logger prints left a frame to Python; a report says it in its reason."""
    if is_report(match):
        said = match.opening + match.message.explanation
        return "frame skipped" if any(words in said for words in _LEFT_TO_PYTHON) else "resumed"
    if is_torchs(match.record):
        return "resumed" if _COMPILING in match.message.text else "frame skipped" if match.opening else ""
    return "fatal" if match.opening else ""
