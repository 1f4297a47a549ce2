"""How the verdict of a program changed, from one release to another or from one evidence file to another."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from registry.evidence_file import Document, runs_of
from registry.model import PROVEN

RUN_GROUPS = {
    "started": "Started breaking",
    "stopped": "Stopped breaking",
    "other": "Another id in one of the two",
    "gained": "Gained a working fix",
    "lost": "Lost a working fix",
    "failed": "Failed to run in one of the two",
}
"""What can happen to the program of an id, run under both -> its name."""

VERDICTS = {
    "verified": "breaks, and a fix works",
    "reproduced": "breaks",
    "stopped": "compiles without a break",
    "other id": "gives another id",
    "failed": "the program fails",
    "not applicable": "can't run there",
    "not run": "not run",
}
"""A verdict -> what it says of one program in one release."""

_RAN = (*PROVEN, "stopped", "other id", "failed")


@dataclass(frozen=True, slots=True)
class Turn:
    """A run with another verdict, or other working fixes, than before."""

    program: str
    backend: str
    group: str
    before: str
    after: str
    """The verdicts in plain words."""

    @property
    def is_worse(self) -> bool:
        """Whether something no longer works."""
        return self.group in ("started", "lost") or (self.group == "failed" and self.after == VERDICTS["failed"])


def turned(before: str, after: str, held: Set[str] = frozenset(), holds: Set[str] = frozenset()) -> str | None:
    """The group of a change of verdict, or of the fixes that work before and after.

    None if it says nothing, for example because one of the two was not run.
    """
    if before == after:
        if before not in PROVEN or held == holds:
            return None
        return "lost" if held - holds else "gained"  # a fix may stop working although another one still works
    if before == "stopped" and after in PROVEN:
        return "started"
    if before in PROVEN and after == "stopped":
        return "stopped"
    if "other id" in (before, after) and (before in PROVEN or after in PROVEN):
        return "other"
    if before in PROVEN and after in PROVEN:
        return "gained" if after == "verified" else "lost"
    return "failed" if "failed" in (before, after) and before in _RAN and after in _RAN else None


def compare_evidence(before: Document, after: Document) -> list[Turn]:
    """Every run that both files have, of the same version of a program, and that changed; by program and backend."""
    old, new = runs_of(before), runs_of(after)
    turns = []
    for program, backend in sorted(old.keys() & new.keys()):
        if before["records"][program]["repro_sha256"] == after["records"][program]["repro_sha256"]:
            was, now = old[program, backend], new[program, backend]
            if group := turned(str(was["verdict"]), str(now["verdict"]), _held(was), _held(now)):
                said = _fixes_in_words if group in ("gained", "lost") else _in_words
                turns.append(Turn(program, backend, group, said(was), said(now)))
    return turns


def _held(run: Mapping[str, Any]) -> set[str]:
    return {name for name, fix in run.get("fixes", {}).items() if fix["holds"]}


def _in_words(run: Mapping[str, Any]) -> str:
    verdict = str(run["verdict"])
    if verdict == "other id":
        return f"gives {', '.join(run['ids'] or run['ids_fullgraph'])}"
    return VERDICTS[verdict]


def _fixes_in_words(run: Mapping[str, Any]) -> str:
    return f"working fixes: {', '.join(sorted(_held(run))) or 'none'}"
