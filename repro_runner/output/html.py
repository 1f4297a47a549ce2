"""Text from anywhere, made fit for a page: every character is either shown or spelt out; and Python in colours."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

from markupsafe import Markup

from registry.stylesheet import read_stylesheet

# Control characters, halves of surrogate pairs and noncharacters have no place in HTML; marks that turn the direction
# of writing around could make a line of code read as another.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff"
    + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(1, 17))
    + "]"
)


def fit_for_html(value: object) -> object:
    """What a template prints, before it is escaped; markup that was made here stays as it is."""
    if isinstance(value, Markup):
        return value
    return _UNFIT.sub(lambda found: ascii(found[0])[1:-1], str(value))


def highlight_python(text: str) -> Markup:
    """Markup for inside <pre><code>; the class names are those of the site's stylesheet."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    fit = str(fit_for_html(text))
    return Markup(highlight(fit, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)))  # pygments escapes


def page_style(own: str) -> dict[str, Any]:
    """What a page that needs nothing else puts into its head: the site's look, then its own CSS, and their hash for the
    Content-Security-Policy."""
    style = Markup(read_stylesheet() + own)  # our own files
    return {"style": style, "style_hash": base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")}
