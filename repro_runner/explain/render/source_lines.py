"""Lines of source that are shown: those around a break, and those of a fix beside the program that it fixes."""

from __future__ import annotations

import ast
import linecache
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from registry.advice import Fix
from repro_runner.explain.site import Observed, Site
from repro_runner.output.places import located

_BEFORE, _AFTER = 2, 1
_LONGEST = 400
_CONTEXT = 2
"""Lines that stay, around those of a fix that change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptLine:
    """A line of the user's source; `breaks` marks the one at which the graph breaks."""

    number: int
    text: str
    breaks: bool
    marks: tuple[tuple[int, int], ...] = ()
    """From where to where in the text the expressions stand that break; empty for the whole line."""


Excerpts = Mapping[Site, tuple[ExcerptLine, ...]]
"""The lines around each site."""


def read_excerpts(report: Observed, folder: Path) -> Excerpts:
    """Read what is around every site; only the line itself where the file is gone, or is another by now.

    `folder` is where the program was started.
    """
    linecache.checkcache()
    return {site: _around(site, _lines(site.file, folder)) for site in report.sites}


def _lines(file: str, folder: Path) -> list[str]:
    """Python's own reader knows encodings, and the cells of a notebook by their names."""
    return linecache.getlines(file) or linecache.getlines(str(located(file, folder)))


def bare_excerpt(site: Site) -> tuple[ExcerptLine, ...]:
    """The line that the report holds."""
    return (_line(site.line, site.source.strip(), breaks=True),) if site.source.strip() else ()


def _around(site: Site, lines: list[str]) -> tuple[ExcerptLine, ...]:
    at = site.line - 1
    if not 0 <= at < len(lines) or lines[at].strip() != site.source.strip():
        return bare_excerpt(site)
    first, last = max(at - _BEFORE, 0), min(at + _AFTER, len(lines) - 1)
    while first < at and not lines[first].strip():
        first += 1
    while last > at and not lines[last].strip():
        last -= 1
    texts = textwrap.dedent("\n".join(line.rstrip().expandtabs(4) for line in lines[first : last + 1])).split("\n")
    marks = tuple(_marks(site, lines[at].rstrip(), texts[at - first]))
    return tuple(
        _line(first + place + 1, text, breaks=first + place == at, marks=marks if first + place == at else ())
        for place, text in enumerate(texts)
    )


def _line(number: int, text: str, *, breaks: bool, marks: tuple[tuple[int, int], ...] = ()) -> ExcerptLine:
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return ExcerptLine(number=number, text=cut.expandtabs(4), breaks=breaks, marks=marks)


def _marks(site: Site, line: str, text: str) -> Iterator[tuple[int, int]]:
    """The site's columns in the text that is shown of the line."""
    whole = line.encode("utf-8", "replace")
    less = len(line.expandtabs(4)) - len(text)
    for start, end in site.columns:
        if not _is_code(whole[start:end].decode("utf-8", "replace")):
            end = len(whole)  # it goes on in the next line
        first, last = (len(whole[:at].decode("utf-8", "replace").expandtabs(4)) - less for at in (start, end))
        if 0 <= first < last:
            yield first, last


def _is_code(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(ast.parse(text.strip()).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedLine:
    """A line of code; `mark` is `-` for one that goes, `+` for one that comes, ` ` for one that stays."""

    mark: str
    text: str


def compare_with_fix(broken: str, fix: Fix) -> tuple[ChangedLine, ...]:
    """From the smallest program that breaks to its fix; long stretches that stay are left out."""
    before = _named(broken, "broken", fix.code).splitlines()
    after = [*fix.settings.splitlines(), *_named(fix.code, fix.name, broken).splitlines()]
    changes: list[ChangedLine] = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT):
        if changes:
            changes.append(ChangedLine(mark=" ", text="…"))
        for tag, start, end, new_start, new_end in group:
            changes += _as_changes(" " if tag == "equal" else "-", before[start:end])
            changes += _as_changes("+", after[new_start:new_end]) if tag != "equal" else ()
    return tuple(changes)


def _as_changes(mark: str, lines: list[str]) -> Iterator[ChangedLine]:
    return (ChangedLine(mark=mark, text=line) for line in lines)


def _named(code: str, name: str, other: str) -> str:
    """Both programs under one name, so that only what differs is shown as different."""
    common = "f" if not re.search(r"\bf\b", code + other) else "function"
    return re.sub(rf"\b{re.escape(name)}\b", common, code)
