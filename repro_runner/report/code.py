"""Python in colours: the class names are those of the site's stylesheet."""

from __future__ import annotations

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from repro_runner.output.html import fit_for_html


def highlight_python(text: str) -> Markup:
    """Markup for inside <pre><code>."""
    fit = str(fit_for_html(text))
    return Markup(highlight(fit, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)))  # pygments escapes
