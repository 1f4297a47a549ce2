"""A report without any text of the program: types of breaks, counts, environment. This module does not need torch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath

from registry.model import CapturedProgram, Environment, GraphBreak, Registry, Revision, SeenBreak
from registry.templates import collapse, make_template
from repro_runner.explain.site import Observed, Site
from repro_runner.output.terminal import plain

_SHORTEST = 3
"""The shortest name to look for: a short one, such as `x`, is in many texts by accident."""
_VALUE = re.compile(r"[/\\]\w[\w.-]*[/\\.]|\.py\b|Variable\(|<class ")
"""Paths and values as torch prints them. Before torch 2.7, most types contained them."""
_QUOTED = re.compile(r"""(["'])(.+?)\1""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """What may be published about a program, and the types that were left out because they quote the program."""

    program: CapturedProgram
    left_out: tuple[str, ...] = ()


def take_fingerprint(
    report: Observed, *, name: str, about: str, registry: Registry, torch_types: Collection[str] = ()
) -> Fingerprint:
    """Keep only types and numbers of a report. `torch_types` are types in torch's sources, with or without an id."""
    seen, left_out = [], []
    registered = {gb.gb_id: gb for gb in registry if not gb.local}
    for one in count_types(report):
        gb = registered.get(one.gb_id)
        if gb is not None:
            seen.append(replace(one, wording=_registered_wording(gb, one.wording.gb_type, report)))
        elif one.wording.gb_type in torch_types or not _quotes_the_program(one.wording.gb_type, report):
            seen.append(one)
        else:
            left_out.append(one.wording.gb_type)
    program = CapturedProgram(
        name=name,
        about=about,
        environment=_environment(report),
        totals=count_totals(report),
        # torch prints a type with placeholders once per value. Here these become one type again.
        breaks=tuple(join_seen(seen, lambda one: (one.gb_id, one.wording.gb_type))),
    )
    return Fingerprint(program=program, left_out=tuple(left_out))


def count_types(report: Observed) -> tuple[SeenBreak, ...]:
    """Count every (id, type as torch printed it), sorted. The break that a cause was reported as counts, too."""
    found: dict[tuple[str, str], list[Site]] = {}
    for site in report.sites:
        for key in dict.fromkeys(zip(site.gb_ids, site.gb_types, strict=True)):
            found.setdefault(key, []).append(site)
    return tuple(_seen(*key, sites) for key, sites in sorted(found.items()))


def count_totals(report: Observed) -> dict[str, int]:
    """The counts of the whole program, without timings. A log has at most the number of graphs."""
    totals = report.totals
    if not totals.frames:
        return {"graphs": totals.graphs} if totals.graphs else {}
    return {
        "graphs": totals.graphs,
        "ops": totals.ops,
        "frames": totals.frames,
        "compilations": totals.compilations,
        "recompiles": len(report.recompiles),
    }


def _seen(gb_id: str, gb_type: str, sites: list[Site]) -> SeenBreak:
    return SeenBreak(
        gb_id=gb_id,
        wording=Revision(gb_type=gb_type, context="", explanation=""),
        sites=len(sites),
        compiled=sum(site.compiled for site in sites),
        ran=_sum(site.frequency.ran for site in sites),
        kinds=dict(sorted(Counter(site.kind for site in sites).items())),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    """The sum; None if one of the counts is unknown."""
    whole = 0
    for count in counts:
        if count is None:
            return None
        whole += count
    return whole


def join_seen(seen: Iterable[SeenBreak], key: Callable[[SeenBreak], object]) -> list[SeenBreak]:
    """Add up the breaks with the same key. The result has the wording of the first."""
    found: dict[object, SeenBreak] = {}
    for one in seen:
        known = found.get(key(one))
        found[key(one)] = one if known is None else _added(known, one)
    return list(found.values())


def _added(one: SeenBreak, other: SeenBreak) -> SeenBreak:
    return replace(
        one,
        sites=one.sites + other.sites,
        compiled=one.compiled + other.compiled,
        ran=_sum((one.ran, other.ran)),
        kinds=dict(sorted((Counter(one.kinds) + Counter(other.kinds)).items())),
    )


def _registered_wording(gb: GraphBreak, gb_type: str, report: Observed) -> Revision:
    """The registry's wording for the type that was printed, with placeholders, if possible of the same release."""
    torch = report.environment.get("torch", "")
    fitting = [dated for dated in gb.revisions if _fits(dated.revision.gb_type, gb_type)] or list(gb.revisions)
    return next((dated for dated in fitting if torch in dated.releases), fitting[0]).revision


def _fits(registered: str, printed: str) -> bool:
    template = make_template(registered, "type")
    return template is not None and template.matches(collapse(printed))


def _environment(report: Observed) -> Environment:
    found = {name: plain(value) for name, value in report.environment.items()}
    return Environment(
        torch=found.get("torch", ""),
        python=found.get("python", ""),
        device=found.get("device", ""),
        date=found.get("date", ""),
    )


def _quotes_the_program(gb_type: str, report: Observed) -> bool:
    """Whether a type without an id contains text of the program. A type with line breaks surely contains a value."""
    if not gb_type.isprintable() or _VALUE.search(gb_type):
        return True
    quoted = (re.search(rf"(?<!\w){re.escape(text)}(?!\w)", gb_type) for text in _own_texts(report))
    return any(quoted)


def _own_texts(report: Observed) -> set[str]:
    """Names, paths and values of the program that a message could quote."""
    found = {report.program.name, *report.program.arguments}
    for site in report.sites:
        found |= {site.context.strip(), site.source.strip(), site.file, PurePath(site.file).name, site.function}
        found |= {quoted[1] for quoted in _QUOTED.findall(site.source)}
        for frame in site.stack:
            found |= {frame.file, PurePath(frame.file).name, frame.function, frame.source.strip()}
    return {text for text in found if len(text) >= _SHORTEST}
