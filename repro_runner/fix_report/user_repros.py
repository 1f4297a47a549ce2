"""Repros made from the user's own code: the function around a break, its inputs drawn again, run to see it break."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from repro_runner.fix_report.children import Children
from repro_runner.fix_report.contents import CONFIRMED, LIBRARYS, NOT_CONFIRMED, YOURS, HandedRepro, Repros
from repro_runner.fix_report.findings import Cause, Findings, Location
from repro_runner.fix_report.script import render_script, script_name
from repro_runner.minifier.breaks.calls import functions_on

_MOST_PLACES = 40
"""Beyond that, the registry's program has to do."""
_MOST_TRIED = 6
"""Programs per place: of the innermost functions."""
_SECONDS_PER_SCRIPT = 60.0
_NO_TIME = "no run, since the time for all scripts was used up"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    number: int
    """Of the cause."""
    cause: Cause
    location: Location
    also: tuple[Location, ...] = ()
    """Others of the same cause, of which the same program would be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRepros:
    """What could be made, and of what nothing could be made: (where, why)."""

    repros: Repros
    without: Mapping[str, str]


def make_own_repros(findings: Findings, children: Children, *, seconds: float) -> OwnRepros:
    """Run the program once more for its functions, then every script that could be made of them."""
    places = [
        _Place(number=number, cause=cause, location=location)
        for number, cause in enumerate(findings.causes)
        for location in _worth_trying(cause)
    ]
    tried = places[:_MOST_PLACES]
    without = {place.location.where: f"only {_MOST_PLACES} places are tried" for place in places[_MOST_PLACES:]}
    done = children.run("extraction:extract_functions", _arguments(findings, tried), seconds=seconds)
    if done.failure:
        why = f"the program, run once more, {done.failure}"
        return OwnRepros(repros={}, without={place.location.where: why for place in tried} | without)
    different = _without_twins(list(zip(tried, done.result["places"], strict=True)))
    ends = time.monotonic() + seconds
    made = [_confirmed(findings, place, answer["programs"], children, ends) for place, answer in different]
    repros: dict[int, tuple[HandedRepro, ...]] = {}
    for (place, answer), repro in zip(different, made, strict=True):
        if repro is None:
            without[place.location.where] = "; ".join(answer["reasons"])
        else:
            repros[place.number] = (*repros.get(place.number, ()), repro)
    return OwnRepros(repros=repros, without=without)


def _worth_trying(cause: Cause) -> list[Location]:
    """A library's lines only if nothing of the user's own breaks so."""
    own = [location for location in cause.locations if not location.in_library]
    return own or list(cause.locations)


def _arguments(findings: Findings, places: list[_Place]) -> dict[str, Any]:
    assert findings.program is not None
    return {
        "program": asdict(findings.program),
        "stacks": [[asdict(site) for site in functions_on(place.location.stack)] for place in places],
    }


def _without_twins(found: list[tuple[_Place, dict[str, Any]]]) -> list[tuple[_Place, dict[str, Any]]]:
    """Two breaks of one cause in one function make one script, which names both."""
    kept: list[tuple[_Place, dict[str, Any]]] = []
    for place, answer in found:
        for number, (earlier, its_answer) in enumerate(kept):
            if answer["programs"] and earlier.number == place.number and its_answer == answer:
                kept[number] = (replace(earlier, also=(*earlier.also, place.location)), its_answer)
                break
        else:
            kept.append((place, answer))
    return kept


def _confirmed(
    findings: Findings, place: _Place, programs: list[dict[str, Any]], children: Children, ends: float
) -> HandedRepro | None:
    """The first script that breaks as the program did, else the first; None where there is none."""
    seen: list[Mapping[str, Any]] = []
    for one in programs[:_MOST_TRIED]:
        if time.monotonic() > ends:
            seen.append({"ids": [], "error": _NO_TIME})
            break
        seen.append(_run(_script(findings, place, one), children))
        if place.cause.gb_id in seen[-1]["ids"]:
            return _handed(findings, place, one, seen[-1], confirmed=True)
    return _handed(findings, place, programs[0], seen[0], confirmed=False) if seen else None


def _run(script: str, children: Children) -> Mapping[str, Any]:
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8", newline="\n") as file:
        file.write(script)
        file.flush()
        done = children.run("tasks:run_repro", {"script": file.name}, seconds=_SECONDS_PER_SCRIPT)
    return done.result or {"ids": [], "error": f"the process {done.failure}"}


def _handed(
    findings: Findings, place: _Place, one: Mapping[str, Any], seen: Mapping[str, Any], *, confirmed: bool
) -> HandedRepro:
    release = findings.environment.get("torch", "")
    gb_id = place.cause.gb_id
    if confirmed:
        verdict = CONFIRMED
        said = f"run in a process of its own with torch {release}, it breaks with {', '.join(seen['ids'])}."
    else:
        verdict = NOT_CONFIRMED
        instead = f"it breaks with {', '.join(seen['ids'])}" if seen["ids"] else "it does not break"
        ended = f", and ends with {seen['error']}" if seen["error"] else ""
        said = f"run in a process of its own with torch {release}, {instead}{ended}, and not with {gb_id}."
    return HandedRepro(
        name=script_name(gb_id, place.location.file, place.location.line),
        text=_script(findings, place, one, verdict=f"{verdict.capitalize()}: {said}"),
        origin=f"{LIBRARYS if place.location.in_library else YOURS}: the function {one['function']}",
        verdict=verdict,
        said=said,
        location=place.location,
    )


def _script(findings: Findings, place: _Place, one: Mapping[str, Any], verdict: str = "Not run yet.") -> str:
    location = place.location
    where = ", ".join(each.shown for each in (location, *place.also))
    header = [
        f"{place.cause.gb_id}, {place.cause.gb_types[0]}: a graph break of {where} as a program of its own.",
        f"The function {one['function']} of {findings.subject}, with what it needs. Its inputs are drawn at random "
        "with the shapes, dtypes and strides that it was first called with.",
        verdict,
        f"Run it: python {Path(script_name(place.cause.gb_id, location.file, location.line)).name}",
    ]
    return render_script(one["code"], header, settings=one["settings"], fatal=place.cause.kind == "fatal")
