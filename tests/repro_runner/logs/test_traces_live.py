"""A trace that the installed torch writes now, against what is captured in the same run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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


@pytest.mark.prove
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


LIMITED = """\
import torch

torch._dynamo.config.recompile_limit = 2


@torch.compile(backend="eager", dynamic=False)
def scaled(x, n):
    return x * n


for n in range(5):
    scaled(torch.ones(n + 2), n)
"""


@pytest.mark.prove
@pytest.mark.slow
def test_a_function_past_the_limit_is_a_skipped_frame_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(LIMITED, "utf-8")
    environment = os.environ | {"TORCH_TRACE": str(tmp_path / "trace")}
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, check=True)
    (trace,) = (tmp_path / "trace").glob("*.log")
    reader = traces.open_reader(Input(log="trace.log", matcher=Matcher.from_registry(committed_registry())))
    reader.feed(trace.read_bytes())
    (found,) = reader.finish().breaks
    assert (found.gb_ids, found.kind, found.function) == (("GB0039",), "frame skipped", "scaled")
    assert (Path(found.file).name, found.line) == ("program.py", 6)
