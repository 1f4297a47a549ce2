"""A report as GitHub-flavoured Markdown, to paste into an issue: no text of a program can become markup."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import jinja2

from repro_runner.explain.render.view import ReportView
from repro_runner.output.html import fit_for_html

TEMPLATES = Path(__file__).parent.parent / "templates"
_CODE = re.compile(r"`([^`\n]+)`")
_MARKUP = re.compile(r"([\\`*_\[\]|~])")
_LINKED_BY_GITHUB = re.compile(r"[@#$]|:(?=//)|(?<=www)\.")
_STARTS_A_BLOCK = re.compile(r"([#>+=:-]|\d+(?=[.)]))")


def render_markdown(view: ReportView, *, summary: bool = False) -> str:
    """The whole report, or its summary by category."""
    return _environment().get_template("explain.md.j2").render(view=view, summary=summary)


@cache
def _environment() -> jinja2.Environment:
    # Escaping for HTML is not Markdown's: everything that is not ours goes through a filter in the template.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"prose": prose, "code": code, "fenced": fenced}
    return environment


def split_code(text: str) -> list[tuple[bool, str]]:
    """(whether it stood between two backticks, text): torch and the registry write code so."""
    return [(bool(place % 2), piece) for place, piece in enumerate(_CODE.split(text)) if piece]


def prose(text: str) -> str:
    """One paragraph in which only `code` between two backticks is markup."""
    words = " ".join(_fit(text).split())
    shown = "".join(f"`{piece}`" if is_code else _escaped(piece) for is_code, piece in split_code(words))
    return _STARTS_A_BLOCK.sub(_entities, shown, count=1) if _STARTS_A_BLOCK.match(shown) else shown


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LINKED_BY_GITHUB.sub(_alone, _MARKUP.sub(r"\\\1", text))


def _alone(found: re.Match[str]) -> str:
    """In an element of its own, so that it is no mention, reference, formula or link with what follows."""
    return f"<span>{found[0]}</span>"


def _entities(found: re.Match[str]) -> str:
    return "".join(f"&#{ord(each)};" for each in found[0])


def code(text: str) -> str:
    """A span of code, whatever backticks are in it."""
    words = " ".join(_fit(text).split())
    ticks = "`" * (_longest(words, "`") + 1)
    space = " " if words.startswith("`") or words.endswith("`") or not words else ""
    return f"{ticks}{space}{words}{space}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """A block of code behind a fence longer than any in it."""
    fence = "`" * max(3, _longest(text, "`") + 1)
    return f"{fence}{language}\n{_fit(text)}\n{fence}"


def _fit(text: str) -> str:
    return str(fit_for_html(text)).replace("\r", "\\r")


def _longest(text: str, character: str) -> int:
    return max((len(run) for run in re.findall(f"{re.escape(character)}+", text)), default=0)
