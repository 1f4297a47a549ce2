"""Apply a unified diff to texts. Every line of its context has to be there; only the line numbers may be wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from registry.errors import InvalidInput, Problem
from repro_runner.fix_report.patches.source import read_source
from repro_runner.output.places import find_below

_HUNK = re.compile(r"@@(?: -(?P<start>\d+)(?:,\d+)? \+\d+(?:,\d+)?)? ?@@")
_AGAIN = "make the patch again, from the file as it is now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines that follow each other, before and after."""

    line: int
    """Where it stands in the patch."""
    start: int
    """The first line in the file, as the patch has it; 0 if it does not say."""
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """What a patch does to one file."""

    line: int
    old: str
    new: str
    """Its names, without the prefixes of git."""
    hunks: tuple[Hunk, ...]


def is_diff(text: str) -> bool:
    """Whether this is a unified diff, or at least begins one."""
    lines = text.splitlines()
    return any(_begins_file(lines, at) or line.startswith("@@ ") for at, line in enumerate(lines))


def read_changes(patch: str, text: str, folder: Path) -> Mapping[str, tuple[str, str]]:
    """Apply a diff to files below a folder: path -> (text before, text after). No file is changed.

    Raises InvalidInput with everything that does not fit. `patch` is the name of the patch.
    """
    problems: list[Problem] = []
    changes: dict[str, tuple[str, str]] = {}
    for one in _parse(text):
        try:
            path = _find_file(one, folder)
            before = changes[path][1] if path in changes else read_source(Path(path)).text
            after = apply_hunks(before, one)
            changes[path] = (changes.get(path, (before,))[0], after)
        except _Unfit as error:
            problems.append(Problem(f"{patch}:{error.line}", str(error)))
        except InvalidInput as error:
            problems.append(Problem(f"{patch}:{one.line}", str(error)))
        except (OSError, SyntaxError, ValueError) as error:
            problems.append(Problem(f"{patch}:{one.line}", f"{one.new} can't be read: {error}; name a Python file"))
    if not problems and all(before == after for before, after in changes.values()):
        problems.append(Problem(patch, f"changes nothing; {_AGAIN}"))
    if problems:
        raise InvalidInput(problems)
    return changes


class _Unfit(Exception):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def _begins_file(lines: list[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _parse(text: str) -> Iterator[FilePatch]:
    """The files of a diff. What git writes between them is passed over."""
    lines = text.replace("\r\n", "\n").split("\n")
    starts = [at for at in range(len(lines)) if _begins_file(lines, at)]
    if not starts:
        yield FilePatch(line=1, old="", new="", hunks=())
    for at, end in pairwise([*starts, len(lines)]):
        old, new = (lines[at + more][4:].partition("\t")[0].strip() for more in (0, 1))
        if old.startswith("a/") and new.startswith("b/"):
            old, new = old[2:], new[2:]
        yield FilePatch(line=at + 1, old=old, new=new, hunks=tuple(_parse_hunks(lines, at + 2, end)))


def _parse_hunks(lines: list[str], at: int, end: int) -> Iterator[Hunk]:
    """Hunks end where a line begins that none can have. Their counts of lines are not needed, and often wrong."""
    while at < end:
        head = _HUNK.match(lines[at])
        at += 1
        if not head:
            continue
        first = at
        while at < end and (not lines[at] or lines[at][0] in " +-\\"):
            at += 1
        body = lines[first:at]
        while body and not body[-1]:  # an empty line behind the patch, not a line of the file
            body.pop()
        yield Hunk(
            line=first,
            start=int(head["start"] or 0),
            before=tuple(line[1:] for line in body if line[:1] in ("", " ", "-")),
            after=tuple(line[1:] for line in body if line[:1] in ("", " ", "+")),
        )


def _find_file(one: FilePatch, folder: Path) -> str:
    if not one.new:
        raise _Unfit(one.line, "no line names the file; begin with `--- a/FILE` and `+++ b/FILE`")
    if "/dev/null" in (one.old, one.new) or one.old != one.new:
        raise _Unfit(one.line, "adds, deletes or renames a file; a trial only changes files that are there")
    if not one.hunks:
        raise _Unfit(one.line, f"has no hunk for {one.new}; write what changes below a line with @@")
    return str(find_below(one.new, folder))


def apply_hunks(text: str, one: FilePatch) -> str:
    """The text with all hunks applied, in order. Line ends stay as they are."""
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").split("\n")
    done, moved = 0, 0
    for number, hunk in enumerate(one.hunks, 1):
        at = _find_place(lines, hunk, done, moved, f"hunk {number} of {one.new}")
        lines[at : at + len(hunk.before)] = hunk.after
        done = at + len(hunk.after)
        moved += len(hunk.after) - len(hunk.before)
    return ending.join(lines)


def _find_place(lines: list[str], hunk: Hunk, done: int, moved: int, name: str) -> int:
    """Where the lines of a hunk stand: where the patch says, or else the only place behind the hunk before it."""
    before, size = list(hunk.before), len(hunk.before)
    # A hunk without lines before stands behind the line that it names.
    wanted = hunk.start - (1 if size else 0) + moved
    if not size and (hunk.start or not any(lines)) and done <= wanted <= len(lines):
        return wanted
    places = [at for at in range(done, len(lines) - size + 1) if size and lines[at : at + size] == before]
    if wanted in places or len(places) == 1:
        return wanted if wanted in places else places[0]
    if places:
        raise _Unfit(hunk.line, f"{name} fits in {len(places)} places; give it more lines of context")
    if not size:
        raise _Unfit(hunk.line, f"{name} has no line of the file; give it lines of context")
    raise _Unfit(hunk.line, f"{name} does not fit: {_first_difference(lines, before, wanted)}; {_AGAIN}")


def _first_difference(lines: list[str], before: list[str], wanted: int) -> str:
    """What is different where most of the lines stand."""

    def differences(at: int) -> list[tuple[int, str, str]]:
        there = [*lines[at : at + len(before)], *[""] * len(before)]
        return [(at + more, *pair) for more, pair in enumerate(zip(there, before, strict=False)) if pair[0] != pair[1]]

    nearest = min(range(len(lines)), key=lambda at: (len(differences(at)), abs(at - wanted)))
    found = differences(nearest)
    if not found:
        return "the hunk before it has changed these lines"
    at, there, line = found[0]
    return f"line {at + 1} is {there!r:.80}, the patch has {line!r:.80}"
