"""Escape text for Markdown, so that kramdown and GitHub show every character; write facts as YAML front matter."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_MARKUP = re.compile(r"[\\`*\[\]<>{}|~$#]|(?<![^\W_])_|_(?![^\W_])|^[-+#=:](?=\s)|(?<=^\d)[.)](?=\s)")
"""What a backslash makes plain. An underscore between letters is."""
_PROSE = re.compile(rf"(?P<code>`[^`]+`)|{_MARKUP.pattern}")
_REFERENCE = re.compile(r"&(?=#?\w)|[\n\t]|^ | $|(?<= ) | (?= )")
"""What only a number makes plain: a space that would be folded, or what would be taken for such a number."""


def plain(text: str) -> str:
    """A text in which nothing is markup."""
    return _MARKUP.sub(r"\\\g<0>", _REFERENCE.sub(lambda found: f"&#{ord(found[0])};", text))


def prose(text: str) -> str:
    """A paragraph of our own, in which only `code` between two backticks is markup."""
    return _PROSE.sub(lambda found: found["code"] or f"\\{found[0]}", one_line(text))


def one_line(text: str) -> str:
    """A heading and an item of a list are one line each."""
    return " ".join(text.split())


def fence(text: str, language: str = "text") -> str:
    """A code block whose fence is longer than any in the text: nothing in it means anything."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{text}\n{marks}"


def front_matter(facts: Mapping[str, Any]) -> str:
    """Facts as YAML, a line each; of what holds others, a line for each of these. What is empty is left out."""
    lines = []
    for name, value in facts.items():
        if isinstance(value, Mapping) and any(isinstance(one, Mapping) for one in value.values()):
            lines += [f"{name}:", *(f"  {_scalar(key)}: {_flow(one)}" for key, one in value.items())]
        elif value or value is False:
            lines.append(f"{name}: {_flow(value)}")
    return "".join(f"{line}\n" for line in lines)


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_scalar(key)}: {_flow(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    """Bare where no reader of YAML takes it for anything but this text; else quoted as in JSON, which YAML includes."""
    bare = isinstance(value, str) and _BARE.fullmatch(value) and value.casefold() not in _OTHER_THAN_TEXT
    return value if bare else _quoted(value)


_quoted = json.JSONEncoder(ensure_ascii=False).encode
_BARE = re.compile(r"[A-Za-z/](?:[\w ./()-]*[\w.)])?|\d+(?:\.\d+){2,}", re.ASCII)
_OTHER_THAN_TEXT = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
