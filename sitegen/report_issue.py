"""A link that opens a new issue at PyTorch, filled in with what is known."""

from __future__ import annotations

from urllib.parse import quote

import jinja2

from registry.model import FindingScript, GraphBreak
from registry.snippets import Program
from sitegen.api_links import printed_link

_NEW_ISSUE = "https://github.com/pytorch/pytorch/issues/new"
LONGEST = 7000
"""Bytes of an address that browsers and GitHub take without complaint, with room to spare."""


def report_url(gb: GraphBreak, program: Program | None, template: jinja2.Template) -> str:
    """The address; a program too long for one is left to the page that the text links to."""
    for script in (program.broken.script if program else "", ""):
        url = f"{_NEW_ISSUE}?title={quote(_title(gb))}&labels={quote('oncall: pt2')}&body={_body(gb, template, script)}"
        if len(url) <= LONGEST:
            return url
    return f"{_NEW_ISSUE}?title={quote(_title(gb))}"


def finding_url(script: FindingScript, template: jinja2.Template) -> str:
    """The address of an issue about a wrong result: what happens, what should, the script, and what it printed."""
    body = quote(template.render(script=script), safe="")
    return f"{_NEW_ISSUE}?title={quote(f'[dynamo] {script.title}')}&labels={quote('oncall: pt2')}&body={body}"


def _title(gb: GraphBreak) -> str:
    return f"[dynamo] {gb.gb_id}: {gb.gb_type}"[:200]


def _body(gb: GraphBreak, template: jinja2.Template, program: str) -> str:
    return quote(template.render(gb=gb, program=program, page=printed_link(gb)), safe="")
