"""Compiles and recompiles over the calls of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import streamlit as st

from registry.stylesheet import read_palette
from repro_runner.output.html import fit_for_html
from repro_runner.ui.shown import show_notice

_COLOURS = {"compiled": "--works", "compiled again": "--doubt", "gave up": "--breaks"}
_SHAPES = {"compiled": "circle", "compiled again": "diamond", "gave up": "cross"}


def show_timeline(events: Sequence[Mapping[str, Any]], calls: Sequence[str]) -> None:
    """Calls on the x axis, functions on the y axis; a mark for each compilation, with the guard that failed."""
    if not events:
        show_notice("The call in which each graph was compiled is not known: the run is from an earlier version.")
        return
    palette = read_palette()["dark" if st.context.theme.type == "dark" else "light"]
    rows = [{name: str(fit_for_html(value)) for name, value in event.items()} for event in events]
    numbers = [str(number) for number in range(1, len(calls) + 1)]
    x = alt.X("call:N", title="call", scale=alt.Scale(domain=numbers), axis=alt.Axis(labelAngle=0, grid=True))
    y = alt.Y("function:N", title=None, axis=alt.Axis(labelLimit=260))
    names = list(_COLOURS)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y)
    marks = base.mark_point(size=180, filled=True, opacity=1).encode(
        color=alt.Color(
            "what:N",
            title=None,
            scale=alt.Scale(domain=names, range=[palette[_COLOURS[name]] for name in names]),
            legend=alt.Legend(orient="top"),
        ),
        shape=alt.Shape("what:N", title=None, scale=alt.Scale(domain=names, range=[_SHAPES[name] for name in names])),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("call", "function", "what", "why", "compile_id")],
    )
    words = base.mark_text(dy=-16, fontSize=12, limit=300, color=palette["--ink"]).encode(text="why:N")
    st.altair_chart((marks + words).properties(height=alt.Step(64)))
