"""Text from anywhere, made fit for a page: every character is either shown or spelt out."""

from __future__ import annotations

import re

from markupsafe import Markup

# Control characters, halves of surrogate pairs and noncharacters have no place in HTML; marks that turn the direction
# of writing around could make a line of code read as another.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff"
    + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(1, 17))
    + "]"
)


def fit_for_html(value: object) -> object:
    """What a template prints, before it is escaped; markup that was made here stays as it is."""
    if isinstance(value, Markup):
        return value
    return _UNFIT.sub(_spelt_out, str(value))


def _spelt_out(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]
