"""A trace that the installed torch writes now, against what is captured in the same run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from registry.matching import Matcher
from repro_runner.logs import traces
from repro_runner.logs.model import Input
from repro_runner.logs.traces.compilations import ProcessDocument
from tests.committed import committed_registry
from tests.repro_runner.fixtures.recorded_traces.record import run_program

pytestmark = pytest.mark.torch


def test_the_trace_of_the_installed_torch_has_every_break_that_was_captured(tmp_path: Path) -> None:
    written = run_program("seven", tmp_path)
    (trace,) = (text for path, text in written.items() if path.parent.name == "trace")
    reader = traces.open_reader(Input(log="trace.log", matcher=Matcher.from_registry(committed_registry())))
    reader.feed(trace)
    part = reader.finish()
    (process,) = cast("list[ProcessDocument]", part.details["processes"])
    captured = json.loads(written[tmp_path / "seven.json"])
    assert {
        (compilation["compile_id"], gb_id, found["line"])
        for compilation in process["compilations"]
        for found in compilation["breaks"]
        for gb_id in found["gb_ids"]
    } == {(one["compile_id"], one["gb_id"], one["line"]) for one in captured if one["compile_id"]}
    assert len(part.breaks) == 7
    assert part.notes == ()
