"""What Streamlit runs; `graphbreak ui` starts it. Each page has an address of its own."""

from __future__ import annotations

from functools import partial

import streamlit as st

from repro_runner.ui import compare_page, new_run_page, run_page, runs_page
from repro_runner.ui.folder import ProjectFolder
from repro_runner.ui.shown import keep_pages, show_style

st.set_page_config(page_icon="◆", layout="wide")
project = ProjectFolder.current()
PAGES = {
    "runs": st.Page(partial(runs_page.show_page, project), title="Runs", url_path="runs", default=True),
    "run": st.Page(partial(run_page.show_page, project), title="One run", url_path="run"),
    "compare": st.Page(partial(compare_page.show_page, project), title="Compare two", url_path="compare"),
    "new": st.Page(partial(new_run_page.show_page, project), title="New run", url_path="new"),
}
show_style()
keep_pages(PAGES)
st.navigation(list(PAGES.values()), position="top").run()
