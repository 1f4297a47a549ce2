"""The one filter between registry text and a page: what upstream wrote is what the reader sees."""

from __future__ import annotations

import re

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
