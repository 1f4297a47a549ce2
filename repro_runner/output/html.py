"""Any text on an HTML page: characters that a browser would not show are spelt out. Also Python in colours."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

from markupsafe import Markup

from registry.stylesheet import read_stylesheet

# HTML does not allow control characters, single surrogates and noncharacters. Marks that change the direction of
# writing could make a line of code look like another line.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff"
    + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(1, 17))
    + "]"
)


def fit_for_html(value: object) -> object:
    """The text that a template prints, before escaping, with forbidden characters spelt out. Markup is not changed."""
    if isinstance(value, Markup):
        return value
    return _UNFIT.sub(lambda found: ascii(found[0])[1:-1], str(value))


def highlight_python(text: str) -> Markup:
    """Highlighted code to put inside <pre><code>. The class names are those of the site's stylesheet."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    fit = str(fit_for_html(text))
    return Markup(highlight(fit, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)))  # pygments escapes


def page_style(own: str) -> dict[str, Any]:
    """Template variables for the head of a self-contained page: the site's stylesheet and the page's own CSS as
    `style`, and their hash for the Content-Security-Policy as `style_hash`."""
    style = Markup(read_stylesheet() + own)  # files of this project: no escaping needed
    return {"style": style, "style_hash": base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")}
