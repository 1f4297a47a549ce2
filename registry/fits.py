"""Which fix fits a message: `fits.yml` says, by id, what a message names and which fixes are right for which names.

The smallest program of an id has one construct of many; its fix may be wrong for the others. An id that is not in the
file has fixes that are right for all who hit it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from registry.datafile import shown
from registry.errors import InvalidInput, Problem
from registry.ids import is_gb_id
from registry.model import Counsel, Fits
from registry.yamlfile import read_yaml


def read_fits(path: Path) -> dict[str, Fits]:
    """Return gb_id -> what fits; all problems at once as InvalidInput."""
    entries = (read_yaml(path) or {}) if path.exists() else {}
    problems = [
        Problem(f"{shown(path)}:1", f"{gb_id}: {why}") for gb_id, one in entries.items() for why in _check(gb_id, one)
    ]
    if problems:
        raise InvalidInput(problems)
    return {
        gb_id: Fits(
            names=tuple(one["name"]),
            fixes={name: tuple(globs) for name, globs in (one.get("fixes") or {}).items()},
            counsels=tuple(
                Counsel(globs=tuple(each["for"]), text=each["text"].strip(), program=each.get("program", ""))
                for each in one.get("advice") or ()
            ),
        )
        for gb_id, one in entries.items()
    }


def _check(gb_id: str, entry: Any) -> Iterator[str]:
    if not is_gb_id(str(gb_id)):
        yield "is no id such as GB0042"
    if not isinstance(entry, Mapping) or not entry.get("name"):
        yield "needs a list of regular expressions under `name`"
        return
    for expression in entry["name"]:
        try:
            groups = re.compile(expression).groups
        except re.error as error:
            yield f"{expression!r} is no regular expression: {error}"
        else:
            if groups != 1:
                yield f"{expression!r} needs exactly one group, what the user's code has"
    for each in entry.get("advice") or ():
        if not isinstance(each, Mapping) or not each.get("for") or not isinstance(each.get("text"), str):
            yield f"advice needs `for`, a list, and `text`: {each!r}"


def find_subject(fits: Fits, message: str) -> str:
    """What the user's code has, as the message names it; empty if it does not."""
    for expression in fits.names:
        if found := re.search(expression, message):
            return found[1].strip()
    return ""


def is_one_of(name: str, globs: Iterable[str]) -> bool:
    """Whether a glob stands for the whole name; `*` stands for any text."""
    return any(re.fullmatch(".*".join(map(re.escape, glob.split("*"))), name, re.DOTALL) for glob in globs)
