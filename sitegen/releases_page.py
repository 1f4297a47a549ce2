"""The releases page, and the data with which its script compares any two."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from itertools import pairwise
from typing import Any

import jinja2

from registry.evidence_changes import RUN_GROUPS, VERDICTS
from registry.ids import is_local
from registry.model import Example, GraphBreak, Registry
from sitegen.by_release import choices
from sitegen.compact import compact, data_script
from sitegen.release_changes import (
    GROUPS,
    Pair,
    compare_releases,
    compare_runs,
    devices_of,
    wording_in,
    working_fixes,
)


def render_releases(registry: Registry, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}; nothing without a release."""
    if not registry.releases:
        return {}
    context = releases_context(registry)
    return {
        "releases.md": environment.get_template("releases.md.j2").render(context),
        **data_script("releases", releases_data(registry)),
    }


def releases_context(registry: Registry) -> dict[str, Any]:
    """Everything `releases.md.j2` shows: each release against the one before, newest first."""
    pairs = [Pair(before, after) for before, after in pairwise(registry.releases)]
    return {
        "registry": registry,
        "newest_first": list(reversed(registry.releases)),
        "first": registry.releases[0],
        "in_first": sum(gb.history.releases[0].registered for gb in registry),
        "sections": [_section(registry, pair) for pair in reversed(pairs)],
        "upgrades": _upgrades(registry),
        "runs": list(_runs(registry)),
    }


def _section(registry: Registry, pair: Pair) -> dict[str, Any]:
    changes = compare_releases(registry, pair)
    return {
        "pair": pair,
        "built": registry.built.get(pair.after, ""),
        "summary": summary(changes, GROUPS),
        "groups": [
            (name, GROUPS[name], [(gb, *_titles(gb, pair, name)) for gb in breaks]) for name, breaks in changes.items()
        ],
    }


def _titles(gb: GraphBreak, pair: Pair, group: str) -> tuple[str, str]:
    """(title, title before, where that is another and the group is about words)."""
    old, new = wording_in(gb, pair.before), wording_in(gb, pair.after)
    title = (new or old or gb.newest).gb_type
    changed = group in ("reworded", "meaning") and old is not None and old.gb_type != title
    return title, old.gb_type if changed and old is not None else ""


def _upgrades(registry: Registry) -> list[dict[str, Any]]:
    """From each release that was run to the newest of them, on the CPU: the programs that no longer break."""
    ran = [torch for torch in registry.releases if "cpu" in devices_of(registry, torch)]
    pairs = [Pair(torch, ran[-1]) for torch in ran[:-1]]
    return [{"pair": pair, "gone": compare_runs(registry, pair, "cpu").get("stopped", ())} for pair in reversed(pairs)]


def _runs(registry: Registry) -> list[dict[str, Any]]:
    """Per device, each release with evidence against the last one before it that has some; newest first."""
    rows = []
    for device in sorted({one.device for one in registry.environments}):
        ran = [torch for torch in registry.releases if device in devices_of(registry, torch)]
        for before, after in pairwise(ran):
            pair = Pair(before, after)
            changes = compare_runs(registry, pair, device)
            rows.append(
                {
                    "pair": pair,
                    "device": device,
                    "summary": summary(changes, RUN_GROUPS),
                    "groups": [
                        (RUN_GROUPS[name], [(*program, _verdicts(program[1], pair, device)) for program in programs])
                        for name, programs in changes.items()
                    ],
                }
            )
    return list(reversed(rows))


def _verdicts(program: Example, pair: Pair, device: str) -> list[tuple[str, str, str]]:
    """(release, what the program does there, the other id that it gives)."""
    return [
        (torch, VERDICTS[program.verdict_in(torch, device)], _instead(program, torch, device))
        for torch in (pair.before, pair.after)
    ]


def _instead(program: Example, torch: str, device: str) -> str:
    """The id that a program gives in place of its own; empty if it has no page."""
    ran = program.best_run(torch, device)
    return next((one for one in ran.ids if not is_local(one)), "") if ran and ran.verdict == "other id" else ""


def summary(changes: Mapping[str, Sized], names: Mapping[str, str]) -> str:
    """`31 added, 5 reworded`: for a reader in a hurry."""
    found = [f"{len(breaks)} {names[group].lower()}" for group, breaks in changes.items()]
    return ", ".join(found) if found else "no change"


def releases_data(registry: Registry) -> str:
    """What release-changes.js reads; one line per id, so that a change of one is a change of one line."""
    devices = sorted({one.device for one in registry.environments})
    head = {
        "releases": [{"torch": torch, "built": registry.built.get(torch, "")} for torch in registry.releases],
        "choices": choices(registry),
        "devices": {
            device: [torch for torch in registry.releases if device in devices_of(registry, torch)]
            for device in devices
        },
        "groups": GROUPS,
        "run_groups": RUN_GROUPS,
        "verdicts": VERDICTS,
    }
    lines = [f"{compact(name)}:{compact(value)}" for name, value in head.items()]
    ids = [f"{compact(gb.gb_id)}:{compact(_id_data(gb, registry.releases, devices))}" for gb in registry]
    return "{\n" + ",\n".join([*lines, '"ids":{\n' + ",\n".join(ids) + "\n}"]) + "\n}\n"


def _id_data(gb: GraphBreak, releases: tuple[str, ...], devices: list[str]) -> dict[str, Any]:
    """`wording`: per release the place of its wording in `titles`, -1 where the id is not registered."""
    dated = [one for one in gb.revisions if one.releases] or list(gb.revisions[:1])
    place = {torch: at for at, one in enumerate(dated) for torch in one.releases}
    live = {seen.torch: seen.live for seen in gb.history.releases}
    return {
        "titles": [one.revision.gb_type for one in dated],
        "wording": [place.get(torch, -1) for torch in releases],
        "live": "".join("1" if live.get(torch) else "0" for torch in releases),
        "meaning": [releases.index(torch) for torch in gb.history.meaning_changed_in],
        "programs": [_program_data(one, releases, devices) for one in gb.programs if one.fresh_evidence],
    }


def _program_data(one: Example, releases: tuple[str, ...], devices: list[str]) -> dict[str, Any]:
    """Per device, for each release: `runs` a digit, `fixes` the places of those that work, as a bit mask.

    `instead`: the other id that it gives in a release.
    """
    verdicts, names = list(VERDICTS), list(one.repro.fixes)
    runs = {
        device: "".join(str(verdicts.index(one.verdict_in(torch, device))) for torch in releases) for device in devices
    }
    fixes = {
        device: [sum(1 << names.index(name) for name in working_fixes(one, torch, device)) for torch in releases]
        for device in devices
    }
    instead = {torch: given for torch in releases if (given := _instead(one, torch, ""))}
    return {"title": one.repro.title, "runs": runs, "fixes": fixes, "instead": instead}
