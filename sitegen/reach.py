"""How contrived a program is. What is unlikely is said of one release: ordinary code may break in an older one."""

from __future__ import annotations

from registry.model import Example, GraphBreak
from registry.versions import version_key

_BADGES = {
    "config": "needs a setting",
    "private": "private parts of torch",
    "contrived": "unusual code",
    "bytecode": "edited bytecode",
}
_PLAIN = {
    "config": "The program needs a setting that is not the default.",
    "private": "The program uses private parts of torch.",
    "contrived": "The code is valid, but unusual.",
    "bytecode": "We had to edit bytecode to trigger it.",
}
_UNLIKELY = {
    "private": "you are unlikely to see this: the program uses private parts of torch.",
    "bytecode": "you are unlikely to see this: we had to edit bytecode to trigger it.",
}


def reach_badge(gb: GraphBreak, torch: str) -> str:
    """Of the program that is shown first for a release; empty for ordinary code."""
    programs = gb.programs_for(torch)
    return _BADGES.get(programs[0].repro.reach, "") if programs else ""


def reach_sentence(gb: GraphBreak, example: Example) -> str:
    """How contrived a program is, and for which release it is unlikely; empty for ordinary code."""
    reach = example.repro.reach
    newest, usual = _newest_proof(gb), _last_usual(gb)
    if reach not in _UNLIKELY or not newest or usual == newest:
        return _PLAIN.get(reach, "")
    until = f" Up to torch {usual}, ordinary code causes it, too." if usual else ""
    return f"In torch {newest}, {_UNLIKELY[reach]}{until}"


def neighbour_sentence(gb: GraphBreak, example: Example) -> str:
    """What stands before the id that people see instead; empty if there is none."""
    if not example.repro.neighbour:
        return ""
    newest = _newest_proof(gb)
    return f"In torch {newest}, you are more likely to see" if newest else "A more usual program gives"


def _newest_proof(gb: GraphBreak) -> str:
    return gb.newest_proof.environment.torch if gb.newest_proof else ""


def _last_usual(gb: GraphBreak) -> str:
    """The newest release in which a public program of ours, or somebody's own program, gives the break."""
    usual = (one for one in gb.programs if one.repro.reach == "public")
    ours = [seen.environment for one in usual for seen in one.fresh_evidence if seen.shows_it]
    met = [*ours, *(one.environment for one in gb.sightings)]
    return max((one.torch for one in met), key=version_key, default="")
