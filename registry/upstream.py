"""Dynamo's registry JSON <-> the model. The only module that spells its keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from registry.errors import InvalidInput, Problem
from registry.ids import UPSTREAM_ID
from registry.model import Revision, Wordings

REGISTRY_PATH = "torch/_dynamo/graph_break_registry.json"
"""Where the file lies in pytorch's repository and in torch's wheels."""

OLDEST_RELEASE = "2.8.0"
"""The first torch whose wheel has it."""

MAX_IDS = 200_000
MAX_REVISIONS = 200
MAX_HINTS = 200
MAX_CHARACTERS = 20_000

_KEYS = ("Gb_type", "Context", "Explanation", "Hints")
_GB_ID = re.compile(UPSTREAM_ID)
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRegistry:
    """A registry file that holds what it has to, and what is odd about it without being wrong."""

    wordings: dict[str, tuple[Revision, ...]]
    """In file order: where two ids share a gb_type, torch takes the last one in the file."""
    warnings: tuple[Problem, ...] = ()


def parse_registry(raw: bytes, where: str, *, may_be_empty: bool = False) -> ParsedRegistry:
    """Read a registry file; raise InvalidInput with every problem in it, each at its JSON path."""
    try:
        document = _decode_json(raw, where)
        reader = _Reader(where)
        reader.check_everything(document, "$")
        wordings = reader.read_wordings(document, may_be_empty=may_be_empty)
    except RecursionError:
        raise InvalidInput([Problem(where, "nested far too deep to be a graph break registry")]) from None
    if reader.problems:
        raise InvalidInput(reader.problems)
    return ParsedRegistry(wordings=wordings, warnings=tuple(reader.unknown_key_warnings()))


def dump_registry(wordings: Wordings) -> str:
    """The same wordings always give the same text, sorted by id, in the shape that upstream has."""
    document = {gb_id: [_as_json(revision) for revision in wordings[gb_id]] for gb_id in sorted(wordings)}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def check_shrink(old: Wordings, new: Wordings, where: str = "upstream") -> Iterator[Problem]:
    """Upstream hardly ever drops an id: to lose more than a tenth is an accident until somebody says otherwise."""
    lost = sorted(old.keys() - new.keys())
    if len(lost) * 10 > len(old):
        named = ", ".join(lost[:3]) + (", …" if len(lost) > 3 else "")
        yield Problem(
            where,
            f"{len(lost)} of the {len(old)} ids in the snapshot are gone ({named}); "
            "if upstream means it, run again with --accept-shrink",
        )


@dataclass(frozen=True, slots=True)
class _Object:
    """A JSON object with its pairs as written: a dict would hide a key that is there twice."""

    pairs: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class _Constant:
    """NaN or an infinity: Python's parser takes them, JSON has no such thing."""

    name: str


def _decode_json(raw: bytes, where: str) -> object:
    if raw.lstrip()[:1] == b"<":
        hint = "HTML, not JSON: is the address right, or does a login page or a proxy stand in the way?"
        raise InvalidInput([Problem(where, hint)])
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte {raw[error.start]:#04x} at offset {error.start}"
        raise InvalidInput([Problem(where, message)]) from None
    try:
        document: object = json.loads(
            text,
            object_pairs_hook=lambda pairs: _Object(tuple(pairs)),
            parse_constant=_Constant,
            parse_int=float,  # the registry has no numbers; int() would raise on one of 5,000 digits
        )
    except json.JSONDecodeError as error:
        raise InvalidInput([Problem(where, _json_message(error))]) from None
    return document


def _json_message(error: json.JSONDecodeError) -> str:
    message = f"not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
    if not error.doc.strip():
        return "empty, not JSON"
    if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string"):
        message += " (it looks cut short)"
    return message


class _Reader:
    """Walks the decoded document once, and collects problems where it would otherwise stop at the first."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._unknown: dict[str, list[str]] = {}
        self.problems: list[Problem] = []

    def check_everything(self, value: object, path: str) -> None:
        """What holds at any depth, under unknown keys too: no key twice, no broken text, no NaN."""
        if isinstance(value, str):
            self._check_text(value, path)
        elif isinstance(value, _Constant):
            self._refuse(path, f"{value.name} is not JSON")
        elif isinstance(value, list):
            for index, item in enumerate(value):
                self.check_everything(item, f"{path}[{index}]")
        elif isinstance(value, _Object):
            seen = set()
            for key, item in value.pairs:
                below = _below(path, key)
                if key in seen:
                    self._refuse(below, "this key is there twice")
                seen.add(key)
                self._check_text(key, below)
                self.check_everything(item, below)

    def read_wordings(self, document: object, *, may_be_empty: bool) -> dict[str, tuple[Revision, ...]]:
        if not isinstance(document, _Object):
            self._refuse("$", f'{_kind(document)}; it has to be an object, {{"GB0001": [...], ...}}')
            return {}
        if not document.pairs and not may_be_empty:
            self._refuse("$", "an empty object: no graph breaks in it")
        if len(document.pairs) > MAX_IDS:
            self._refuse("$", f"{len(document.pairs):,} ids; more than {MAX_IDS:,} cannot be right")
            return {}
        wordings = {}
        for gb_id, revisions in document.pairs:
            path = _below("$", gb_id)
            self._check_id(gb_id, path)
            wordings[gb_id] = self._read_revisions(revisions, path)
        return wordings

    def unknown_key_warnings(self) -> Iterator[Problem]:
        """One for each key, not one for each place: upstream adds a key to all revisions or to none."""
        for key, paths in self._unknown.items():
            places = f"{len(paths)} revisions, first at {paths[0]}" if len(paths) > 1 else paths[0]
            yield Problem(self._where, f"unknown key {_quoted(key)} ignored ({places})")

    def _read_revisions(self, value: object, path: str) -> tuple[Revision, ...]:
        revisions = self._array(value, path, "revisions", MAX_REVISIONS)
        if value == []:
            self._refuse(path, "no revision in it; an id has at least one")
        read = (self._read_revision(item, f"{path}[{index}]") for index, item in enumerate(revisions))
        return tuple(revision for revision in read if revision)

    def _read_revision(self, value: object, path: str) -> Revision | None:
        if not isinstance(value, _Object):
            self._refuse(path, f"{_kind(value)}; a revision has to be an object with {', '.join(_KEYS)}")
            return None
        fields = dict(value.pairs)
        if not self._check_keys(fields, path):
            return None
        revision = Revision(
            gb_type=self._string(fields["Gb_type"], f"{path}.Gb_type"),
            context=self._string(fields["Context"], f"{path}.Context"),
            explanation=self._string(fields["Explanation"], f"{path}.Explanation"),
            hints=self._read_hints(fields["Hints"], f"{path}.Hints"),
        )
        if isinstance(fields["Gb_type"], str) and not revision.gb_type.strip():
            self._refuse(f"{path}.Gb_type", "empty; torch finds the id by this text")
        return revision

    def _read_hints(self, value: object, path: str) -> tuple[str, ...]:
        hints = self._array(value, path, "hints", MAX_HINTS)
        return tuple(self._string(hint, f"{path}[{index}]") for index, hint in enumerate(hints))

    def _check_id(self, gb_id: str, path: str) -> None:
        if _GB_ID.fullmatch(gb_id):
            return
        message = "not an id: GB and 4 to 6 digits"
        if _GB_ID.fullmatch(gb_id.upper()):
            message = f"ids are in upper case: {gb_id.upper()}"
        self._refuse(path, message)

    def _check_keys(self, fields: dict[str, object], path: str) -> bool:
        missing = [key for key in _KEYS if key not in fields]
        unknown = [key for key in fields if key not in _KEYS]
        for key in missing:
            suspects = f"; unknown here: {', '.join(map(_quoted, unknown))}. Was it renamed?" if unknown else ""
            self._refuse(path, f'"{key}" is missing{suspects}')
        for key in unknown:
            self._unknown.setdefault(key, []).append(path)
        return not missing

    def _check_text(self, text: str, path: str) -> None:
        if len(text) > MAX_CHARACTERS:
            self._refuse(path, f"{len(text):,} characters; more than {MAX_CHARACTERS:,} cannot be right")
        found = _FORBIDDEN.search(text)
        if found:
            kind = "half a surrogate pair" if found[0] >= "\ud800" else "a control character"
            self._refuse(path, f"{kind}, U+{ord(found[0]):04X}, at position {found.start()} of the text")

    def _string(self, value: object, path: str) -> str:
        if isinstance(value, str):
            return value
        self._refuse(path, f"{_kind(value)}; it has to be a string")
        return ""

    def _array(self, value: object, path: str, of_what: str, most: int) -> list[object]:
        if not isinstance(value, list):
            self._refuse(path, f"{_kind(value)}; it has to be an array of {of_what}")
            return []
        if len(value) > most:
            self._refuse(path, f"{len(value):,} {of_what}; more than {most} cannot be right")
        return list(islice(value, most))

    def _refuse(self, path: str, message: str) -> None:
        self.problems.append(Problem(f"{self._where}: {path}", message))


def _as_json(revision: Revision) -> dict[str, str | list[str]]:
    values = (revision.gb_type, revision.context, revision.explanation, list(revision.hints))
    return dict(zip(_KEYS, values, strict=True))


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if _PLAIN_KEY.fullmatch(key) else f"{path}[{_quoted(key)}]"


def _quoted(key: str) -> str:
    """A key from outside, fit for a terminal: escaped, and no longer than a line."""
    quoted = json.dumps(key[:61])
    return quoted if len(key) <= 60 else quoted[:-1] + '…"'


def _kind(value: object) -> str:
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, _Object):
        return "an object"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else "a number"
