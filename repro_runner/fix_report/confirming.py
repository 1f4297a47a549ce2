"""Run a repro script, and see which breaks it has."""

from __future__ import annotations

import runpy
from typing import Any

from repro_runner.capture import capture_breaks


def run_script(job: dict[str, Any]) -> dict[str, Any]:
    """The ids of the breaks that happened, and what the script raised, if anything. To be run in a fork of its own."""
    error = ""
    with capture_breaks() as breaks:
        try:
            runpy.run_path(job["script"], run_name="__main__")
        except BaseException as raised:  # noqa: BLE001 - a user's function may raise anything
            error = f"{type(raised).__name__}: {raised}"[:500]
    ids = list(dict.fromkeys(one.gb_id for one in breaks if one.happened))
    return {"ids": ids, "error": error}
