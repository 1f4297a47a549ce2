"""What the home page can filter by: the same values make a number on the dashboard and the list that it links to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from registry.model import Environment, GraphBreak, Registry

Facets = Mapping[str, tuple[str, ...]]

STATUSES = {
    "verified": "Verified fix",
    "reproduced": "Reproduced",
    "elsewhere": "Seen in another release",
    "not-run": "Needs another environment",
    "unreached": "Not triggered",
    "open": "No program yet",
    "retired": "Not emitted",
    "absent": "Not in this release",
}
"""Status in a release -> its name on the site; first of what the release emits, best first."""

_PLACES = {status: place for place, status in enumerate(STATUSES)}

EMITTED = tuple(status for status in STATUSES if status not in ("retired", "absent"))
"""Those of ids that the release emits."""


def statuses(gb: GraphBreak, releases: Iterable[str]) -> str:
    """For the scripts: a digit per release, the place of its status there in STATUSES."""
    return "".join(str(_PLACES[gb.status_in(torch)]) for torch in releases)


FACETS = {
    "category": "kind",
    "status": "status",
    "lifecycle": "state",
    "since": "first in torch",
    "registered": "registered in torch",
    "live": "emitted by torch",
    "new": "new in torch",
    "reworded": "reworded in torch",
    "meaning": "new meaning since torch",
    "retired": "no longer emitted since torch",
    "device": "shown on",
    "run": "run",
    "fix": "fix",
    "note": "note",
    "gap": "empty field",
    "finding": "finding",
    "seen": "seen in",
}
"""Facet -> what the site calls it in front of a value."""

OF_RELEASES = ("since", "registered", "live", "new", "reworded", "meaning", "retired")
"""Facets whose values are torch releases: their order is that of the releases, so `ge:2.13.0` means something."""


def facets_of(gb: GraphBreak, torch: str = "") -> Facets:
    """Return every facet of one id with the values it has; one without a value is left out.

    Its status is that in one release, by default the newest.
    """
    if gb not in _KNOWN:
        _KNOWN[gb] = _facets_of(gb)
    return {**_KNOWN[gb], "status": (gb.status_in(torch),)} if torch else _KNOWN[gb]


_KNOWN: WeakKeyDictionary[GraphBreak, Facets] = WeakKeyDictionary()
"""Every list, number and search has them."""


def _facets_of(gb: GraphBreak) -> Facets:
    history = gb.history
    found = {
        "category": [gb.category],
        "status": [gb.status],
        "lifecycle": [gb.lifecycle],
        "since": [history.first_release] if history.first_release else [],
        "registered": [seen.torch for seen in history.releases if seen.registered],
        "live": [seen.torch for seen in history.releases if seen.live],
        "new": [history.first_release] if history.first_release else [],
        "reworded": list(history.reworded_in),
        "meaning": list(history.meaning_changed_in),
        "retired": [history.retired_in] if history.retired_in else [],
        "device": sorted({seen.environment.device for seen in gb.best_evidence if seen.shows_it}),
        "run": [run_value(seen.environment, *run) for seen in gb.best_evidence for run in seen.verdicts.items()],
        "fix": sorted(_kinds_of_fixes(gb)),
        "note": ["yes"] if gb.note else [],
        "gap": list(gb.newest.gaps) if gb.registered else [],
        "finding": sorted({one.kind for one in gb.findings}),
        "seen": sorted({sighting.name for sighting in gb.sightings}),
    }
    return {facet: tuple(values) for facet, values in found.items() if values}


def _kinds_of_fixes(gb: GraphBreak) -> set[str]:
    """Of the fixes that were verified, in any release."""
    proofs = ((one.repro, seen) for one in gb.programs for seen in one.fresh_evidence if seen.verdict == "verified")
    return {repro.fixes[name] for repro, seen in proofs for name, holds in seen.fixes.items() if holds}


def run_value(environment: Environment, backend: str, verdict: str) -> str:
    """One value of the facet `run`: `2.13.0 cpu eager verified`."""
    return f"{environment.torch} {environment.device} {backend} {verdict}"


def facet_values(registry: Registry) -> dict[str, tuple[str, ...]]:
    """Every facet with all the values it has in a registry, in the order in which a reader expects them."""
    found: dict[str, set[str]] = {name: set() for name in FACETS}
    for gb in registry:
        for name, values in facets_of(gb).items():
            found[name].update(values)
    known = {
        "category": [category.key for category in registry.categories],
        "status": list(STATUSES),
        "note": ["yes"],
        **{name: list(registry.releases) for name in OF_RELEASES},
    }
    return {name: _in_order(values, known.get(name, [])) for name, values in found.items()}


def _in_order(values: set[str], known: list[str]) -> tuple[str, ...]:
    return (*known, *sorted(values - set(known)))


def list_link(**facets: str) -> str:
    """From the root of the site to the list of ids that have all these facets; a comma in a value means `or`.

    The list of a release shows what holds in it, whatever release the reader chose earlier.
    """
    of_release = next((facets[name] for name in OF_RELEASES if name in facets), "")
    release = {"torch": of_release} if of_release.replace(".", "").isdecimal() else {}
    return f"index.html?{urlencode({**release, **facets})}"
