"""Other people's programs: which breaks they hit, and how often."""

from __future__ import annotations

from typing import Any

from registry.model import Registry, Sighting
from sitegen.counts import Lists
from sitegen.links import page_link


def how_often(sighting: Sighting) -> str:
    """`at 2 lines, ran 12 times, torch 2.13.0`."""
    lines = "1 line" if sighting.sites == 1 else f"{sighting.sites} lines"
    ran = {None: "", 0: ", never ran", 1: ", ran once"}.get(sighting.ran, f", ran {sighting.ran} times")
    return f"at {lines}{ran}, torch {sighting.environment.torch}"


def most_seen(registry: Registry) -> list[dict[str, Any]]:
    """Every break that a program hit, the one in most programs first."""
    rows = [
        {
            "gb": gb,
            "programs": len({one.name for one in gb.sightings}),
            "lines": sum(one.sites for one in gb.sightings),
            "link": f"{page_link(gb)}#seen-in",
        }
        for gb in registry
        if gb.sightings
    ]
    return sorted(rows, key=lambda row: (-row["programs"], -row["lines"], row["gb"].gb_id))


def program_rows(registry: Registry, lists: Lists) -> list[dict[str, Any]]:
    """Every program, how many ids it hits, and where it ran; a log does not tell its device."""
    return [
        {
            "program": program,
            "count": lists.count(seen=program.name),
            "place": ", ".join(filter(None, (program.environment.torch, program.environment.device))),
        }
        for program in registry.programs
    ]
