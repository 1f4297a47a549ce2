"""The runs on disk, the newest first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from registry.errors import InvalidInput
from repro_runner.output.units import counted
from repro_runner.report import read_contents
from repro_runner.report.page import shown_time
from repro_runner.report.parts import BREAKS, DOUBT, PLAIN, WORKS
from repro_runner.report.parts.catalogue import judge_parts
from repro_runner.report.several import summary_of, where_of
from repro_runner.runs import RunFolder
from repro_runner.runs.inventory import describe_run, is_being_written
from repro_runner.ui.folder import ProjectFolder
from repro_runner.ui.shown import select, show, show_notice, show_title, worst_state

_EVERY = "all"
_STATES = {_EVERY: "", "failed": BREAKS, "doubtful": DOUBT, "passed": WORKS, "damaged": "damaged"}
_SHOWN = 50


def show_page(project: ProjectFolder) -> None:
    """The list, with filters that stand in the address."""
    runs = [_described(run) for run in project.runs()]
    show_title("Runs", f"{counted(len(runs), 'run')} in {project.home}")
    if not runs:
        show_notice(
            "There are no runs here yet. “New run” makes one, and so does every command: graphbreak check, diff, …"
        )
        return
    chosen = _filtered(runs)
    if not chosen:
        show_notice("No run fits these filters.")
    show("runs.html.j2", runs=chosen[:_SHOWN])
    if len(chosen) > _SHOWN:
        show_notice(f"{len(chosen) - _SHOWN} older runs are not shown; filter by model to find one.")


def _filtered(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    asked = st.query_params
    model, verb, state = st.columns([3, 1, 1])
    words = model.text_input("Model", value=asked.get("model", ""), placeholder="a part of its name")
    with verb:
        chosen_verb = select("Command", [_EVERY, *sorted({run["verb"] for run in runs})], asked.get("verb"))
    with state:
        chosen_state = select("Result", list(_STATES), asked.get("result"))
    kept = {"model": words, "verb": chosen_verb, "result": chosen_state}
    st.query_params.from_dict({name: value for name, value in kept.items() if value and value != _EVERY})
    return [
        run
        for run in runs
        if words.lower() in run["subject"].lower()
        and chosen_verb in (_EVERY, run["verb"])
        and (chosen_state == _EVERY or run["filed"] == _STATES[chosen_state])
    ]


def _described(run: RunFolder) -> dict[str, Any]:
    changed = max((path.stat().st_mtime_ns for path in run.path.glob("*.json")), default=0)
    return {**_summary(str(run.path), changed), "running": is_being_written(run)}


@st.cache_data(max_entries=2_000, show_spinner=False)
def _summary(path: str, changed: int) -> dict[str, Any]:  # noqa: ARG001 - a run that was changed is read again
    run = RunFolder(Path(path))
    listed = describe_run(run)
    shown: dict[str, Any] = {
        "id": run.id,
        "verb": listed.verb,
        "subject": listed.subject or run.id,
        "when": shown_time(listed.started),
        "size": listed.size,
        "where": "",
        "problem": "",
        "parts": [],
    }
    try:
        contents = read_contents(run)
    except InvalidInput as error:
        problem = "; ".join(each.message for each in error.problems)
        return {**shown, "problem": problem, "state": BREAKS, "filed": "damaged"}
    judged = judge_parts(contents)
    state = worst_state(judged) or PLAIN
    parts = [(each.verdict.state, each.part.title) for each in judged]
    return {**shown, "where": where_of(summary_of(contents)), "parts": parts, "state": state, "filed": state}
