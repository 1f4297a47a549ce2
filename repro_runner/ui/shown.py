"""Ways to show things on a page. Text of a run goes through an escaping template: none of it becomes markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from registry.errors import InvalidInput
from registry.stylesheet import read_palette, read_stylesheet
from repro_runner.output.html import fit_for_html
from repro_runner.output.templates import html_templates, text_templates
from repro_runner.output.terminal import plain
from repro_runner.report.contents import RunContents, read_contents
from repro_runner.report.page import TEMPLATES
from repro_runner.report.parts import BREAKS, DOUBT, MARKS, PLAIN, WORKS
from repro_runner.report.parts.catalogue import Judged
from repro_runner.runs import RunFolder

_HERE = Path(__file__).parent
_OWN = _HERE / "templates"
_PAGES = "pages of the app"
_WORST_FIRST = (BREAKS, DOUBT, WORKS, PLAIN)


def show(template: str, **content: Any) -> None:
    """Render one of our templates, which escapes what it is given, and show it."""
    st.html(html_templates(_OWN, TEMPLATES).get_template(template).render(**content, marks=MARKS))


def show_title(title: str, about: str) -> None:
    show("title.html.j2", title=title, about=about)


def show_notice(*lines: str, warns: bool = False) -> None:
    """Sentences in a soft colour; with `warns`, as a warning."""
    show("notice.html.j2", lines=lines, warns=warns)


def show_code(text: str, language: str | None = "python", **more: Any) -> None:
    """Text as it is, with a button that copies it. What a browser would not show is spelt out."""
    st.code(str(fit_for_html(text)), language=language, **more)


def show_style() -> None:
    """The stylesheets that the site and the reports have, in the colours that the browser shows now."""
    scheme = "dark" if st.context.theme.type == "dark" else "light"
    template = text_templates(_OWN).get_template("style.html.j2")
    style = template.render(
        palette=read_palette()[scheme],
        look=read_stylesheet(),
        report=(TEMPLATES / "report.css").read_text("utf-8"),
        own=(_HERE / "own.css").read_text("utf-8"),
    )
    st.html(style)


def read_or_complain(run: RunFolder) -> RunContents | None:
    """The contents of a run. If its manifest can't be read, the page says why, and this is None."""
    try:
        return read_contents(run)
    except InvalidInput as error:
        show_notice(f"{run.id} is damaged: {'; '.join(each.message for each in error.problems)}", warns=True)
        return None


def worst_state(judged: Iterable[Judged]) -> str:
    """The state to show for several parts; empty if there are none."""
    return min((each.verdict.state for each in judged), key=_WORST_FIRST.index, default="")


def page_of(name: str) -> Any:
    """The page of this name, to go to with `st.switch_page`."""
    return st.session_state[_PAGES][name]


def keep_pages(pages: Mapping[str, Any]) -> None:
    """Let pages find each other by name."""
    st.session_state[_PAGES] = pages


def titles_of(runs: Iterable[RunFolder]) -> dict[str, str]:
    """Id -> how a list names the run: its model, then the id, which begins with the time."""
    titles = {}
    for run in runs:
        try:
            subject = str(run.manifest().get("subject") or "")
        except InvalidInput:
            subject = "(damaged)"
        titles[run.id] = plain(" · ".join(filter(None, [subject, run.id])))
    return titles


def select(label: str, options: Sequence[str], first: str | None = None, **more: Any) -> str:
    """A list to choose from, which begins with `first`, or else with the first of all."""
    return str(st.selectbox(label, options, index=options.index(first) if first in options else 0, **more))


def choose(label: str, options: Sequence[str], *, parameter: str, default: str = "", **more: Any) -> str:
    """A list to choose from. What is chosen stands in the address, so that it can be shared."""
    asked = st.query_params.get(parameter, default)
    chosen = select(label, options, asked, key=f"choose-{parameter}", **more)
    if chosen != options[0] or parameter in st.query_params:
        st.query_params[parameter] = chosen
    return chosen
