"""Texts that stand under a name that tells: `API_KEY = "…"`, `{"Authorization": f"…"}`, `getenv("HF_TOKEN", "…")`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORDS = (
    r"(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|"
    r"auth|authorization|credential)s?"
)
NAME = rf"[\w.-]*?(?<![a-z])(?:{_WORDS}(?![a-z])[\w.-]*?|token|pass|pw)"
"""A name that tells, in any case: API_KEY, db_password, hf-token; not `tokenizer`, `author` or `token_type_ids`."""
_CAMEL = r"[\w.-]*[a-z](?:Token|Secret|Password|Passwd|Key|Credential)s?|[A-Z0-9_]*KEYS?"
_LOGIN = r"[\w.]*(?:login|log_in|authenticate)(?=\s*\()"
_NAMED = re.compile(
    rf"\b(?:(?P<name>(?i:{NAME})|{_CAMEL})(?:(?P<quoted>[\"'])\s*\]?\s*(?P<after>=(?!=)|:|,)|\s*(?P<sign>:=|=(?!=)|(?<!pass):(?!=)))"
    rf"|{_LOGIN}\s*(?P<call>\())"
)
"""In quotes, a comma may follow: `set_option("api_key", "…")`."""
_TO_VALUE = re.compile(r"\s*(?:[\w.\[\]| ]+=)?\s*\(?\s*")
"""What may stand between the name and a value of several lines: its type, a bracket. Other quotes may be the end of a
docstring that only speaks of a name."""
_PIECE = re.compile(
    r"(?P<string>[rbfuRBFU]{0,2}(?P<quote>\"\"\"|'''|\"|')(?P<value>(?:\\.|(?!(?P=quote))[\s\S])*?)(?P=quote))"
    r"|(?P<other>[\s\S])"
)
_FARTHEST = 4000
"""Characters after a name: a bracket that nothing closes ends there."""


def find_values(text: str) -> Iterator[tuple[int, int]]:
    """Where the contents of such texts begin and end, in order and none twice."""
    at = 0
    for named in _NAMED.finditer(text):
        for start, end in _strings_after(text, max(named.end(), at), named["after"] or named["sign"] or "("):
            if text[start:end] != named["name"]:  # `Token = NewType("Token", int)`
                yield start, end
            at = end + 1


def _strings_after(text: str, start: int, sign: str) -> Iterator[tuple[int, int]]:
    """Up to the end of the value; after a comma or a bracket, up to the end of the call."""
    depth = 1 if sign == "(" else 0
    whole_call = sign in ",("
    position = start
    while position < min(len(text), start + _FARTHEST):
        piece = _PIECE.match(text, position)
        assert piece is not None, "any character is a piece"
        if piece["string"] and _is_whole(text[start:position], piece):
            yield piece.span("value")
            position = piece.end()
            continue
        position += 1
        each = text[position - 1]
        depth += (each in "([{") - (each in ")]}")
        if depth < 0 or (sign == "(" and not depth) or (depth == 0 and _ends(each, whole_call=whole_call)):
            return


def _is_whole(before: str, piece: re.Match[str]) -> bool:
    """Not an apostrophe, and not the end of a text in which the name stands."""
    if len(piece["quote"]) == 3:
        return _TO_VALUE.fullmatch(before) is not None
    return "\n" not in piece["value"]


def _ends(character: str, *, whole_call: bool) -> bool:
    return character in ";#" or (not whole_call and character in ",\n")
