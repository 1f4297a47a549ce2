"""The allow-list: a file with the breaks that a project accepts, so that its number of breaks can't grow unnoticed.

    # one entry per line: an id, a file, or both; x and a number is the most sites it may match
    GB0124
    vendor/**
    GB0124 src/model.py x2
    GB0124 src/model.py::forward
    */transformers/*        # anywhere

`::` and a name stand for one function of the file. No entry names a line, so that moved code needs no other entry.

In a file pattern `*` matches anything, slashes too. A pattern with a slash is compared with the path from the current
folder (with or without ./) and with the absolute path. A pattern without a slash is compared with the file's name.

A comment does the same for its own line, or, on a line of its own, for the next one:

    print(x.shape)  # graphbreak: allow GB0059 because it runs once per epoch
"""

from __future__ import annotations

import glob
import io
import re
import shlex
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from registry.errors import InvalidInput, Problem, WriteFailed
from registry.ids import is_gb_id, looks_like_gb_id
from repro_runner.explain.site import Observed, Site
from repro_runner.output.places import in_library, in_package, located
from repro_runner.output.units import counted

_COMMENT = re.compile(r"#\s*graphbreak:(.*)")
_ALLOWED = re.compile(r"\s*allow\s+(\w[\w-]*(?:\s*,\s*\w[\w-]*)*)\s+because\s+\S.*", re.IGNORECASE)
_LIMIT = re.compile(r"x(\d+)")
_SYNTAX = (
    "an entry is an id (GB0124), a file pattern (vendor/**, or src/model.py::forward for one function), or both, "
    "and may end with a number of sites (x2)"
)
_EXAMPLE = "# graphbreak: allow GB0124 because …"
_HEADER = """\
# Graph breaks that are known here: `graphbreak explain --fail-on-break --allow FILE SCRIPT` fails on any other.
# An id, a file with a function, or both; x and a number is the most sites that the line may stand for.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the allow-list."""

    origin: str
    """`path:line` of the entry."""
    text: str
    gb_id: str = ""
    """Empty if the entry allows any id."""
    pattern: str = ""
    """Empty if the entry allows any file."""
    function: str = ""
    """Empty if the entry allows any function of the file."""
    line: int = 0
    """Of a comment: the line for which it stands; then the pattern is a path."""
    limit: int | None = None

    def __str__(self) -> str:
        return f"{self.origin}: `{self.text}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Which sites the allow-list allows, and which of its entries should be changed."""

    allowed: frozenset[Site]
    new: tuple[Site, ...]
    surplus: tuple[tuple[Entry, int], ...]
    """(entry, how many sites match it) for entries that match more sites than they allow."""
    unused: tuple[Entry, ...]
    """Entries that match no site."""
    loose: tuple[tuple[Entry, int], ...]
    """(entry, how many sites it allows here) for entries that would allow more sites."""
    faults: tuple[str, ...] = ()
    """What is wrong with comments."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What to change in the allow-list, as sentences."""
        return (
            *self.faults,
            *(f"{one} matches {counted(found, 'site')}, and allows {one.limit}" for one, found in self.surplus),
            *(f"{one} is no longer needed: remove it" for one in self.unused),
            *(f"{one} stands for {counted(found, 'site')} by now: write x{found}" for one, found in self.loose),
        )


def read_allowed(path: Path) -> tuple[Entry, ...]:
    """Read an allow-list. Raises InvalidInput with every line that is not an entry."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "is not UTF-8 text"
        raise InvalidInput([Problem(str(path), f"{why}; `--write-allow {path}` writes one")]) from error
    return parse_allowed((f"{path}:{number}", line) for number, line in enumerate(text.splitlines(), 1))


def parse_allowed(lines: Iterable[tuple[str, str]]) -> tuple[Entry, ...]:
    """The entries of lines, each with the place where it stands. Raises InvalidInput with every line that is none."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    for origin, line in lines:
        try:
            words = shlex.split(line, comments=True)
            entries += [_parse_entry(words, origin)] if words else []
        except ValueError as error:
            problems.append(Problem(origin, str(error)))
    if problems:
        raise InvalidInput(problems)
    return tuple(entries)


def _parse_entry(words: list[str], origin: str) -> Entry:
    """The entry of one line. Raises ValueError with what is wrong with the line."""
    left = list(words)
    gb_id = left.pop(0).upper() if is_gb_id(left[0].upper()) else ""
    limit = None
    if left and (found := _LIMIT.fullmatch(left[-1])):
        limit = int(found[1])
        left.pop()
    place = left.pop(0) if left else ""
    pattern, _, function = place.rpartition("::") if "::" in place else (place, "", "")
    if left or not (gb_id or pattern) or (function and not pattern):
        raise ValueError(f"`{' '.join(words)}`: {_SYNTAX}")
    if not gb_id and "/" not in pattern and looks_like_gb_id(pattern) and "." not in pattern:
        raise ValueError(f"`{pattern}` is not an id such as GB0124; a file of that name is ./{pattern}")
    if limit == 0:
        raise ValueError(f"`{' '.join(words)}` allows nothing: remove it")
    text = " ".join(words)
    return Entry(origin=origin, text=text, gb_id=gb_id, pattern=pattern, function=function, limit=limit)


def _read_comments(report: Observed, *, folder: Path) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """(the comments that allow a break, a sentence for each that is none, such as one without a reason).

    They are looked for in the files of the sites, and in the modules of `folder` that this process has imported.
    """
    entries: list[Entry] = []
    problems: list[str] = []
    for path in _own_files(report, folder):
        for number, comment, alone in _comments(path):
            origin = f"{path}:{number}"
            known = _ALLOWED.fullmatch(comment)
            ids = [one.strip().upper() for one in known[1].split(",")] if known else []
            if not ids or not all(map(is_gb_id, ids)):
                problems.append(f"{origin}: `# graphbreak:{comment}` allows nothing: write `{_EXAMPLE}`")
                continue
            text = f"# graphbreak:{comment}"
            entries += [
                Entry(origin=origin, text=text, gb_id=one, pattern=str(path), line=number + alone) for one in ids
            ]
    return tuple(entries), tuple(problems)


def _own_files(report: Observed, folder: Path) -> list[Path]:
    names = [site.file for site in report.sites] + [report.program.name]
    names += [str(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())]
    paths = {located(name, folder) for name in names if name.endswith(".py")}
    return sorted(path for path in paths if path.is_relative_to(folder) and not in_library(path))


def _comments(path: Path) -> Iterator[tuple[int, str, bool]]:
    """(line, what stands behind `graphbreak:`, whether the line has nothing else) of every such comment."""
    try:
        text = path.read_bytes()
        if b"graphbreak:" not in text:
            return
        for token in tokenize.tokenize(io.BytesIO(text).readline):
            if token.type == tokenize.COMMENT and (found := _COMMENT.match(token.string)):
                yield token.start[0], found[1].rstrip(), not token.line[: token.start[1]].strip()
    except (OSError, SyntaxError, ValueError, tokenize.TokenError):  # a name that no file can have, too
        return


def judge_sites(report: Observed, entries: Iterable[Entry], *, folder: Path) -> Judgement:
    """Compare sites with entries, and with the comments in the code.

    A site counts for the first matching entry below its limit; otherwise it is new.
    """
    comments, faults = _read_comments(report, folder=folder)
    entries = (*comments, *entries)
    taken: Counter[Entry] = Counter()
    matched: Counter[Entry] = Counter()
    allowed: set[Site] = set()
    for site in sorted(report.sites, key=lambda one: (one.file, one.line)):
        fitting = [entry for entry in entries if _matches(entry, site, folder)]
        matched.update(fitting)
        roomy = next((entry for entry in fitting if entry.limit is None or taken[entry] < entry.limit), None)
        if roomy is not None:
            taken[roomy] += 1
            allowed.add(site)
    new = tuple(site for site in report.sites if site not in allowed)
    return Judgement(
        allowed=frozenset(allowed),
        new=new,
        surplus=tuple(
            (entry, matched[entry])
            for entry in entries
            if entry.limit is not None and any(_matches(entry, site, folder) for site in new)
        ),
        unused=tuple(entry for entry in entries if not matched[entry]),
        loose=tuple((entry, taken[entry]) for entry in entries if 0 < taken[entry] < (entry.limit or 0)),
        faults=faults,
    )


def _matches(entry: Entry, site: Site, folder: Path) -> bool:
    if entry.gb_id and entry.gb_id not in site.gb_ids:
        return False
    if not entry.pattern:
        return True
    path = located(site.file, folder)
    if entry.line:
        return (site.line, path) == (entry.line, Path(entry.pattern))
    if entry.function and entry.function != site.function:
        return False
    if "/" not in entry.pattern:
        return fnmatchcase(path.name, entry.pattern)
    candidates = [path.as_posix()]
    if path.is_relative_to(folder):
        below = path.relative_to(folder).as_posix()
        candidates += [below, f"./{below}"]
    return any(fnmatchcase(one, entry.pattern) for one in candidates)


def allow_list(report: Observed, *, folder: Path) -> str:
    """The text of an allow-list that allows exactly the sites of the report."""
    found = Counter((site.gb_ids[0], _portable_pattern(site, folder)) for site in report.sites)
    return _HEADER + "".join(f"{gb_id} {pattern} x{count}\n" for (gb_id, pattern), count in sorted(found.items()))


def _portable_pattern(site: Site, folder: Path) -> str:
    """A pattern that also matches on other machines: relative to `folder`, or to where packages are installed."""
    path = located(site.file, folder)
    if inside := in_package(path):
        text = f"*/{glob.escape(inside)}"
    elif path.is_relative_to(folder):
        text = glob.escape(path.relative_to(folder).as_posix())
        text = text if "/" in text else f"./{text}"
    else:
        text = glob.escape(path.as_posix())
    text = f"{text}::{site.function}" if site.function or "::" in text else text
    return shlex.quote(text) if re.search(r"[\s#'\"\\]", text) else text


def check_allow_target(path: Path) -> Iterator[Problem]:
    """Yield a problem if the file exists already."""
    if path.exists():
        yield Problem(f"--write-allow {path}", "is there already; name another file, or delete it first")


def write_allowed(path: Path, text: str) -> None:
    """Write a new file. Raises WriteFailed if it exists or can't be written."""
    try:
        with path.open("x", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    except OSError as error:
        raise WriteFailed(f"{path}: {error.strerror}; name another file with --write-allow") from error
