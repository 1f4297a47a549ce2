"""A drawing of a graph that can be zoomed and moved."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from repro_runner.report.contents import Attachment
from repro_runner.ui.shown import show_notice

_HERE = Path(__file__).parent


@cache
def _viewer() -> Any:
    html, css, js = ((_HERE / f"viewer.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component("graphbreak_viewer", html=html, css=css, js=js)


def show_drawing(drawing: Attachment | None, title: str) -> None:
    """The drawing as an image, in which nothing can run. One that is too large is named."""
    if drawing is None:
        show_notice("There is no drawing of this graph in the run.")
    elif drawing.content is None:
        show_notice(f"The drawing is too large to be shown here: it is in the run's folder, as {drawing.name}.")
    else:
        _viewer()(data={"address": drawing.address, "label": title}, key=f"viewer {title}")
