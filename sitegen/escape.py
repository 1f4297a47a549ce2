"""The one filter between registry text and a page: what upstream wrote is what the reader sees."""

from __future__ import annotations

import re
from collections.abc import Callable

# Numeric character references survive Markdown, HTML and Liquid alike, so whatever could mean something to one of the
# three is written as one. A comma or a single full stop means nothing to any of them and keeps the source readable;
# spaces are written out where an HTML or Markdown parser might fold or trim them.
_SPECIAL = re.compile(r"[!-+\-/:-@\[-`{-~\n\t]|\.(?=\.)|(?<=\.)\.|^ | $|(?<= ) | (?= )|(?<=\d)\.")

_CODE = re.compile(r"&#96;(.+?)&#96;")


def verbatim(text: str) -> str:
    """Escape one string for Markdown, HTML and Liquid at once. Not for code spans or fences: they show it as it is."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", text)


def prose(text: str) -> str:
    """Escape a sentence of our own, in which `backticks` mark code."""
    return _CODE.sub(r"<code>\1</code>", verbatim(text))


_LONG_WORD = re.compile(r"\S{22,}")
"""Longer than a line of a phone, in the letters of a title, or than a line of the side column."""
_JOINT = re.compile(r"(?<=\w[./(=\[])(?=[^\s)])|(?<=[A-Za-z0-9]_)(?=[A-Za-z0-9])|(?<=[a-z])(?=[A-Z])")


def breakable(text: str, escape: Callable[[str], str] = verbatim) -> str:
    """Escape a title or a name, in which a long name may break behind a dot, an underscore or a part in CamelCase."""
    return escape(_LONG_WORD.sub(lambda word: _JOINT.sub("\0", word[0]), text)).replace("\0", "<wbr>")
