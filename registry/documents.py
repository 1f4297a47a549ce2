"""Documents: JSON that says what it is, `{"kind": …, "schema": …, …}`. One way to begin, to read and to write one.

A field may be added under a new schema number. A reader refuses a newer number, and says what to do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from registry.errors import InvalidInput, Problem


class Document(TypedDict):
    """What every document begins with; each kind adds its own fields to it."""

    kind: str
    schema: int


def head(kind: str, schema: int = 1) -> Document:
    """The beginning of a document: `{**head("violations"), "violations": […]}`."""
    return {"kind": kind, "schema": schema}


def document_text(document: Mapping[str, Any]) -> str:
    """As it is printed and saved: two spaces, in the order of its fields. ValueError for NaN, which JSON has not."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_document(path: Path, kinds: Mapping[str, int], *, remedy: str) -> dict[str, Any]:
    """A document of one of these kinds (each with the newest schema that is understood) from a file.

    InvalidInput, with the remedy, if the file can't be read, is not JSON, is something else, or is newer.
    """
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise _refused(path, f"{error.strerror}; {remedy}") from error
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"not JSON ({error}); {remedy}") from error
    return check_document(content, kinds, where=str(path), remedy=remedy)


def check_document(content: object, kinds: Mapping[str, int], *, where: str, remedy: str) -> dict[str, Any]:
    """The content, if it is a document of one of these kinds that is not too new; else InvalidInput."""
    kind = content.get("kind") if isinstance(content, dict) else None
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(kind, str) or kind not in kinds or not isinstance(schema, int):
        wanted = " or ".join(repr(each) for each in kinds)
        raise _refused(where, f"not a document of kind {wanted}; {remedy}")
    if schema > kinds[kind]:
        newer = f"written by a newer version (schema {schema}; this one reads up to {kinds[kind]}); update this one"
        raise _refused(where, newer)
    return content


def check_data_file(content: object, kinds: Mapping[str, int], *, where: str, remedy: str) -> dict[str, Any]:
    """The same for a file under registry/, of which everybody has the newest reader.

    InvalidInput for another kind, with the remedy, and for a newer schema. What is no document at all is a KeyError
    or a TypeError: its reader knows what should be in its place.
    """
    if not isinstance(content, dict):
        raise TypeError(f"an object was expected, not {type(content).__name__}")
    kind, schema = content["kind"], content["schema"]
    if kind not in kinds:
        wanted = " or ".join(kinds) if len(kinds) > 1 else repr(*kinds)
        raise _refused(where, f"kind is {kind!r}, not {wanted}; {remedy}")
    if schema > kinds[kind]:
        raise _refused(where, f"schema {schema:g} is newer than {kinds[kind]}; update the project")
    return content


def _refused(where: object, why: str) -> InvalidInput:
    return InvalidInput([Problem(str(where), why)])
