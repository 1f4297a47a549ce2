"""The pages on disk: find them in either case, read their notes back, and report what can't be read safely."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from registry.errors import Problem
from registry.ids import GB_ID, UPSTREAM_ID
from registry.model import Note, Revision, Wordings
from registry.notes import MalformedPage, check_closed, digest, front_matter_value, is_marker, split_page

_PAGE_NAME = re.compile(rf"({GB_ID})\.md", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOnDisk:
    """One page that people may have edited, and the note in it."""

    file: str
    raw: bytes
    note: Note
    twins: Mapping[str, bytes] = field(default_factory=dict)
    """The same page under other spellings of its name, with the same note or none: to be removed."""

    @property
    def text(self) -> str:
        return self.raw.decode("utf-8").removeprefix("\ufeff")


@dataclass(frozen=True, slots=True, kw_only=True)
class PagesOnDisk:
    """All pages: those that may be written again, and those that must be left as they are."""

    files: Mapping[str, str] = field(default_factory=dict)
    """gb_id -> file name, of every page."""
    pages: Mapping[str, PageOnDisk] = field(default_factory=dict)
    refused: frozenset[str] = frozenset()
    """Ids whose page has a problem."""
    altered: Mapping[str, PageOnDisk] = field(default_factory=dict)
    """Those of them with text changed outside the note: what changed shows only beside the page as generated."""
    newer: Mapping[str, str] = field(default_factory=dict)
    """gb_id -> file name, of upstream's pages whose id is in no registry that we know: they stay as they are."""
    problems: tuple[Problem, ...] = ()


def page_file(gb_id: str) -> str:
    """The name of an id's page under docs/gb."""
    return f"{gb_id}.md"


def read_pages(folder: Path, registries: Iterable[Wordings], overwrite: Collection[str] = ()) -> PagesOnDisk:
    """Read every page under docs/gb, knowing what registries say.

    `overwrite`: ids whose text outside the note is to be thrown away.
    """
    wordings = [(gb_id, one) for registry in registries for gb_id, found in registry.items() for one in found]
    known = _wording_lines({one for _, one in wordings})
    pages: dict[str, PageOnDisk] = {}
    altered: dict[str, PageOnDisk] = {}
    refused: set[str] = set()
    problems: list[Problem] = []
    spellings = _files_by_id(folder, problems)
    unknown = spellings.keys() - {gb_id for gb_id, _ in wordings}
    newer = {gb_id: spellings.pop(gb_id)[0] for gb_id in sorted(unknown) if not _any_is_ours(folder, spellings[gb_id])}
    for gb_id, files in spellings.items():
        try:
            found = [_read_page(folder / file, known, check=gb_id not in overwrite) for file in files]
            pages[gb_id] = _one_of(found)
        except _AlteredPage as error:
            altered[gb_id] = error.page
        except _UnreadablePage as error:
            refused.add(gb_id)
            problems.append(Problem(f"docs/gb/{error.file}:{error.line}", error.message))
    return PagesOnDisk(
        files={gb_id: files[0] for gb_id, files in spellings.items()},
        pages=pages,
        altered=altered,
        refused=frozenset(refused | altered.keys()),
        newer=newer,
        problems=tuple(sorted(problems)),
    )


def check_altered(altered: Mapping[str, PageOnDisk], generated: Mapping[str, Collection[str]]) -> Iterator[Problem]:
    """Say where a page was changed outside its note: the first line that was never generated.

    `generated` gives, for each id, the lines of its page as it is generated now and as it may have been before.
    """
    for gb_id, page in altered.items():
        parts = split_page(page.text)
        lines = _outside_lines(parts.head, parts.tail, parts.note)
        own = ("note_for:", "digest:")
        foreign = (n for n, line in lines if line and line not in generated[gb_id] and not line.startswith(own))
        message = (
            "text outside the markers was changed; move it between them and restore the rest, "
            f"or drop it with `python generate_site.py --overwrite {gb_id}`"
        )
        yield Problem(f"docs/gb/{page.file}:{next(foreign, 1)}", message)


def _files_by_id(folder: Path, problems: list[Problem]) -> dict[str, list[str]]:
    """Group file names by id, our own spelling first. Works from the listing: a disk may ignore case."""
    files: dict[str, list[str]] = {}
    for file in sorted(path.name for path in folder.glob("*.md")) if folder.is_dir() else ():
        name = _PAGE_NAME.fullmatch(file)
        if name:
            files.setdefault(name[1].upper(), []).append(file)
        else:
            problems.append(
                Problem(f"docs/gb/{file}:1", "not the name of a page (GB0042.md); rename or delete this file")
            )
    return files


def _any_is_ours(folder: Path, files: Iterable[str]) -> bool:
    """Whether we made one of the pages, or can't tell."""
    texts = ((folder / file).read_bytes().decode("utf-8", "replace") for file in files if (folder / file).is_file())
    return any(front_matter_value(text, "digest") is not None for text in texts)


class _UnreadablePage(Exception):
    def __init__(self, file: str, line: int, message: str) -> None:
        super().__init__(message)
        self.file, self.line, self.message = file, line, message


class _AlteredPage(Exception):
    def __init__(self, page: PageOnDisk) -> None:
        super().__init__(page.file)
        self.page = page


def _read_page(path: Path, known: Collection[str], *, check: bool) -> PageOnDisk:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise _UnreadablePage(path.name, 1, f"{error.strerror}; make it a readable file, or remove it") from error
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise _UnreadablePage(path.name, line, "not UTF-8; save the file as UTF-8") from error
    try:
        parts = split_page(text)
        check_closed(parts.note, parts.note_line)
    except MalformedPage as error:
        raise _UnreadablePage(path.name, error.line, error.message) from error
    sealed_with = front_matter_value(text, "digest")
    written_for = front_matter_value(text, "note_for") if sealed_with else _type_on_upstream_page(parts.head)
    page = PageOnDisk(file=path.name, raw=raw, note=Note(text=parts.note, written_for=written_for or ""))
    if check and sealed_with is None:
        _refuse_foreign_text(page, known)
    elif check and sealed_with != digest(text):
        raise _AlteredPage(page)
    return page


def _one_of(found: list[PageOnDisk]) -> PageOnDisk:
    """Several spellings of a name: fine when they hold the same note, or only one holds any."""
    first, *others = found
    noted = [page for page in found if page.note]
    for other in noted[1:]:
        if other.note.text.strip() != noted[0].note.text.strip():
            message = f"{noted[0].file} holds another note; move one note into the other file and delete this one"
            raise _UnreadablePage(other.file, 1, message)
    note = noted[0].note if noted else first.note
    return PageOnDisk(file=first.file, raw=first.raw, note=note, twins={other.file: other.raw for other in others})


# A page of the upstream site: no digest, so its text is compared line by line with what that site's generator writes.
_UPSTREAM_SKELETON = re.compile(
    rf"""
    ---
    | (layout|title|permalink|nav_exclude):.*
    | \#\ {UPSTREAM_ID}
    | \#\#\ (Graph-Break\ Type|Context|Explanation|Hints|Additional\ Information)
    | \*(Short\ name\ describing|Values\ or\ code|Explanation\ of\ why|Hints\ on\ how|No\ hints\ provided)[^*]*\*
    | \[[^\]]*\]\((\.\./index\.html|/|https://github\.com/[\w.-]+/compile-graph-break-site/\S*)\)
    """,
    re.VERBOSE,
)


def _wording_lines(wordings: Collection[Revision]) -> set[str]:
    fields = (
        text
        for revision in wordings
        for text in (revision.gb_type, revision.context, revision.explanation, *revision.hints)
    )
    return {_plain(line) for text in fields for line in text.split("\n")}


def _plain(line: str) -> str:
    return " ".join(line.split()).removeprefix("- ")


def _refuse_foreign_text(page: PageOnDisk, known: Collection[str]) -> None:
    parts = split_page(page.text)
    for number, line in _outside_lines(parts.head, parts.tail, parts.note):
        if line and not (is_marker(line) or _UPSTREAM_SKELETON.fullmatch(line) or _plain(line) in known):
            message = f"{line[:60]!r} is not text that the upstream site generates; move it between the markers"
            raise _UnreadablePage(page.file, number, message)


def _outside_lines(head: str, tail: str, note: str) -> Iterator[tuple[int, str]]:
    before = head.splitlines()
    yield from ((number, line.strip()) for number, line in enumerate(before, 1))
    first = (head + note).count("\n") + 1
    yield from ((number, line.strip()) for number, line in enumerate(tail.split("\n"), first))


def _type_on_upstream_page(head: str) -> str:
    section = re.search(r"^## Graph-Break Type\s*\n(?:\*[^\n]*\*\s*\n)?\s*([^\n]+)", head, re.MULTILINE)
    return section[1].strip() if section else ""
