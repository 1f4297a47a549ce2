"""The source lines that a report shows: the lines around a break, and the lines that a fix changes."""

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
_HUNK = re.compile(r"@@ -(?P<line>\d+)(?:,(?P<before>\d+))? \+\d+(?:,(?P<after>\d+))? @@")
_CONTEXT = 2
"""How many unchanged lines are shown around the lines that a fix changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcerptLine:
    """A line of the user's source; `breaks` marks the one at which the graph breaks."""

    number: int
    text: str
    breaks: bool
    marks: tuple[tuple[int, int], ...] = ()
    """(start, end) of each expression that breaks, in characters of the text; empty for the whole line."""


Excerpts = Mapping[Site, tuple[ExcerptLine, ...]]
"""The lines around each site."""


def read_excerpts(report: Observed, folder: Path) -> Excerpts:
    """Read the lines around every site. If a file is missing or has changed, only the line in the report is used.

    `folder` is the folder in which the program was started.
    """
    linecache.checkcache()
    return {site: _around(site, _lines(site.file, folder)) for site in report.sites}


def _lines(file: str, folder: Path) -> list[str]:
    """The lines of a file. `linecache` handles encodings, and knows the cells of a notebook.

    It would look for a relative name on sys.path, and find another file of that name there.
    """
    known = linecache.getlines(file) if file in linecache.cache else []
    return linecache.getlines(str(located(file, folder))) or known


def bare_excerpt(site: Site) -> tuple[ExcerptLine, ...]:
    """The one line that the report contains; empty if it has none."""
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
    """Convert the site's columns from UTF-8 bytes of `line` to characters of `text`, which is shown for it."""
    whole = line.encode("utf-8", "replace")
    less = len(line.expandtabs(4)) - len(text)
    for start, end in site.columns:
        if not _is_code(whole[start:end].decode("utf-8", "replace")):
            end = len(whole)  # the expression continues on the next line
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
    """A line of code. `mark` is `-` for a removed line, `+` for an added line, ` ` for an unchanged line."""

    mark: str
    text: str


def compare_with_fix(broken: str, fix: Fix) -> tuple[ChangedLine, ...]:
    """The diff from the registry's broken program to its fix. Unchanged lines far from a change are left out."""
    before = _with_common_name(broken, "broken", fix.code).splitlines()
    after = [*fix.settings.splitlines(), *_with_common_name(fix.code, fix.name, broken).splitlines()]
    changes: list[ChangedLine] = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT):
        if changes:
            changes.append(ChangedLine(mark=" ", text="…"))
        for tag, start, end, new_start, new_end in group:
            changes += _as_changes(" " if tag == "equal" else "-", before[start:end])
            changes += _as_changes("+", after[new_start:new_end]) if tag != "equal" else ()
    return tuple(changes)


def changed_lines(diff: str) -> Iterator[ChangedLine]:
    """The lines of a unified diff. Instead of headers, each part begins with its file and line."""
    file, before, after = "", 0, 0
    for line in diff.splitlines():
        if before > 0 or after > 0:
            before -= line[:1] in ("", " ", "-")
            after -= line[:1] in ("", " ", "+")
            yield ChangedLine(mark=line[:1] or " ", text=line[1:])
        elif found := _HUNK.match(line):
            before, after = (int(found[name] or 1) for name in ("before", "after"))
            yield ChangedLine(mark=" ", text=f"{file}, line {found['line']}:")
        elif line.startswith("+++ "):
            file = line[4:].partition("\t")[0].removeprefix("b/")


def _as_changes(mark: str, lines: list[str]) -> Iterator[ChangedLine]:
    return (ChangedLine(mark=mark, text=line) for line in lines)


def _with_common_name(code: str, name: str, other: str) -> str:
    """Rename the function, so that both programs have the same name and the diff shows only real differences."""
    common = "f" if not re.search(r"\bf\b", code + other) else "function"
    return re.sub(rf"\b{re.escape(name)}\b", common, code)
