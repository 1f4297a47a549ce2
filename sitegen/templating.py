"""Jinja, with the filters that every template uses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jinja2

from sitegen.code import escape_code
from sitegen.escape import prose, verbatim
from sitegen.links import page_link
from sitegen.sentences import device_name

_GAPS = re.compile(r"\n(?:[ \t]*\n)+")


def template_environment(templates: Path) -> jinja2.Environment:
    """Templates in a folder; what they forget to escape is not escaped, what they misspell is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        autoescape=False,  # Markdown, HTML and Liquid at once: `verbatim` is the escape, on every value
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "verbatim": verbatim,
        "prose": prose,
        "quoted": _quoted,
        "tidy": _tidy,
        "code_text": escape_code,
        "device": device_name,
        "page_link": page_link,
    }
    return environment


def _quoted(text: str) -> str:
    """A YAML double-quoted scalar: JSON's strings are a subset."""
    return json.dumps(text, ensure_ascii=False)


def _tidy(html: str) -> str:
    """No blank lines: they are where branches of a template were not taken."""
    return _GAPS.sub("\n", html.strip()) + "\n"
