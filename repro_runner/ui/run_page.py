"""One run: its verdicts, then its parts one at a time. The address names both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from repro_runner.report.contents import RunContents, subject_of
from repro_runner.report.page import describe_environment, describe_settings, render_report, render_section, shown_time
from repro_runner.report.parts import MARKS
from repro_runner.report.parts.catalogue import MALFORMED, Judged, judge_parts, unchecked
from repro_runner.report.parts.dynamo import guards_view
from repro_runner.report.parts.graphs import graphs_view
from repro_runner.report.parts.minified import minified_view
from repro_runner.runs.run_folder import REPORT
from repro_runner.ui.folder import ProjectFolder
from repro_runner.ui.graph_viewer import show_drawing
from repro_runner.ui.shown import (
    choose,
    page_of,
    read_or_complain,
    select,
    show,
    show_code,
    show_notice,
    show_title,
    titles_of,
    worst_state,
)
from repro_runner.ui.timeline import show_timeline

_OVERVIEW = "Overview"
_COMMAND = "command"
"""The field of a manifest with the command that repeats the run."""
_TABS = {
    "Violations": ("violations", "op_support"),
    "Breaks": ("breaks",),
    "Numerics": ("numerics",),
    "Graphs": ("graphs",),
    "Guards": ("guards",),
    "Smallest program": ("minified",),
    "Benchmark": ("bench", "break_cost"),
}
"""Title -> the parts of a report that are shown under it."""
_HIGH, _FEW_LINES = 660, 24
"""The height of a long text, in pixels; a text of a few lines is as high as it is."""


def show_page(project: ProjectFolder) -> None:
    """The run that the address names; the newest if it names none."""
    runs = {run.id: run for run in project.runs()}
    if not runs:
        show_title("One run", f"There are no runs in {project.home} yet. “New run” makes one.")
        return
    ids = list(runs)
    asked = st.query_params.get("run", ids[0])
    if asked not in ids:
        show_notice(f"There is no run {asked} here. It may have been deleted. This is the newest one.", warns=True)
    run_id = choose("Run", ids, parameter="run", format_func=titles_of(runs.values()).__getitem__)
    contents = read_or_complain(runs[run_id])
    if contents is None:
        return
    show(
        "run.html.j2",
        id=contents.run.id,
        verb=contents.manifest.get("verb", ""),
        title=subject_of(contents),
        when=shown_time(contents.manifest.get("started")),
        environment=describe_environment(contents.manifest),
    )
    _show_tabs(contents, {each.part.kind: each for each in judge_parts(contents)})


def _show_overview(contents: RunContents, judged: list[Judged]) -> None:
    show(
        "overview.html.j2",
        judged=judged,
        unreadable={name: why for name, why in contents.unreadable.items() if name.startswith(("graphs/", "failures"))},
        unchecked=unchecked(contents),
    )
    _show_actions(contents)
    settings = [each for each in describe_settings(contents.manifest) if each[0] != _COMMAND]
    show("settings.html.j2", settings=settings, environment=describe_environment(contents.manifest))
    if command := contents.manifest.get(_COMMAND):
        show_code(str(command), "bash", wrap_lines=True)


def _show_actions(contents: RunContents) -> None:
    run = contents.run
    with st.container(horizontal=True):
        page = (run.path / REPORT).read_bytes() if run.has(REPORT) else render_report(contents).encode("utf-8")
        st.download_button("Report as one file", page, file_name=f"{run.id}.html", mime="text/html")
        if st.button("Compare with another"):
            st.switch_page(page_of("compare"), query_params={"b": run.id})
        if st.button("Run again with other settings"):
            st.switch_page(page_of("new"), query_params={"like": run.id})


def _show_tabs(contents: RunContents, judged: Mapping[str, Judged]) -> None:
    there = {title: [judged[kind] for kind in kinds if kind in judged] for title, kinds in _TABS.items()}
    titles = [_OVERVIEW, *(title for title, parts in there.items() if parts)]

    def with_mark(title: str) -> str:
        worst = worst_state(there.get(title, ()))
        return f"{MARKS[worst]} {title}" if worst else title

    asked = st.query_params.get("part", titles[0])
    chosen = st.segmented_control(
        "Part",
        titles,
        default=asked if asked in titles else titles[0],
        format_func=with_mark,
        required=True,
        label_visibility="collapsed",
        key=f"part of {contents.run.id}",
    )
    title = chosen or titles[0]
    st.query_params["part"] = title
    if title == _OVERVIEW:
        _show_overview(contents, list(judged.values()))
    for each in there.get(title, ()):
        _show_part(contents, each, heading=len(there[title]) > 1)


def _show_part(contents: RunContents, judged: Judged, *, heading: bool) -> None:
    """What the report shows of a part, and what only this page can."""
    section = render_section(judged, contents, apart=True)
    more = _MORE.get(judged.part.kind)
    if more is None or judged.document is None or section["problem"]:
        show("section.html.j2", section=section, heading=heading)
        return
    try:
        more(contents, judged.document, section)
    except MALFORMED:
        show("section.html.j2", section=section, heading=heading)


def _show_graphs(contents: RunContents, document: Mapping[str, Any], section: Mapping[str, Any]) -> None:
    graphs = graphs_view(document, contents)["graphs"]
    parts = {
        f"Graph {graph['number']}, {part['title']}: {part['nodes']} nodes": (graph, part)
        for graph in graphs
        for part in graph["parts"]
    }
    titles = list(parts)
    title = select("Drawing", titles, titles[:2][-1], key=f"drawing of {contents.run.id}")
    graph, part = parts[title]
    drawn, written = st.columns([3, 2])
    with drawn:
        show_drawing(part["drawing"], title)
    with written:
        if part["text"] is not None and part["text"].content is not None:
            text = part["text"].text
            show_code(text, height=_HIGH if text.count("\n") > _FEW_LINES else "content")
    show("section.html.j2", section=section, heading=False)
    lowered = dict(graph["lowered"])
    if lowered and st.toggle("Show what Inductor made of it"):
        name = select("File", list(lowered))
        show_code(lowered[name].text, height=480)


def _show_guards(contents: RunContents, document: Mapping[str, Any], section: Mapping[str, Any]) -> None:
    view = guards_view(document, contents)
    show_timeline(view["timeline"], view["calls"])
    show("section.html.j2", section=section, heading=False)


def _show_minified(contents: RunContents, document: Mapping[str, Any], section: Mapping[str, Any]) -> None:
    show("section.html.j2", section=section, heading=False)
    program = minified_view(document, contents).get("program")
    if program is not None and program.content is not None:
        show_code(program.text, line_numbers=True)
        st.download_button("Download the program", program.content, file_name=program.name.rpartition("/")[2])


_MORE = {"graphs": _show_graphs, "guards": _show_guards, "minified": _show_minified}
