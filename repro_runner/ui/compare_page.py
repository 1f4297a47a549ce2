"""Two runs side by side. The address names both."""

from __future__ import annotations

import streamlit as st

from repro_runner.ui.comparison import compare_contents
from repro_runner.ui.folder import ProjectFolder
from repro_runner.ui.shown import choose, read_or_complain, show, show_notice, show_title, titles_of

_MOST = 30
"""Rows that are shown of what only one run has."""


def show_page(project: ProjectFolder) -> None:
    """Choose two runs, and see what is different."""
    show_title("Compare two", "Two runs side by side: what each found, and where they differ.")
    runs = {run.id: run for run in project.runs()}
    if len(runs) < 2:
        show_notice("This needs two runs. “New run” makes one.")
        return
    ids = list(runs)
    titles = titles_of(runs.values())
    newer = st.query_params.get("b", ids[0])
    before = next((name for name in ids if name < newer and _subject(titles, name) == _subject(titles, newer)), ids[1])
    left, right = st.columns(2)
    with left:
        a = choose("A", ids, parameter="a", default=before, format_func=titles.__getitem__)
    with right:
        b = choose("B", ids, parameter="b", format_func=titles.__getitem__)
    if a == b:
        show_notice("A and B are the same run. Choose another one.")
        return
    first, second = read_or_complain(runs[a]), read_or_complain(runs[b])
    if first is not None and second is not None:
        show("compare.html.j2", **compare_contents(first, second), most=_MOST)


def _subject(titles: dict[str, str], name: str) -> str:
    return titles.get(name, "").rpartition(" · ")[0]
