"""Cells run one after another in one module, and all that they print is kept."""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path
from textwrap import dedent

import pytest

from registry.lessons import parse_lesson
from registry.model import CellOutput
from repro_runner.lessons.recording import EXAMPLES, find_lessons, record_lesson
from repro_runner.lessons.running import run_cells

IN_MAKE_TEST = ("graph_capture",)
"""The others take longer, and are in `make prove`."""
MEASURED = re.compile(r"≈.*")
"""From there to the end of the line there may be further numbers that follow from it."""


def run(folder: Path, text: str) -> list[CellOutput]:
    path = folder / "01_lesson.py"
    path.write_text(f'"""Title."""\n{dedent(text)}', "utf-8")
    return list(run_cells(path, parse_lesson(path).cells))


def test_cells_share_their_names_and_all_that_is_printed_is_kept(tmp_path: Path) -> None:
    text = """
    # %%
    import os, subprocess, sys
    def f(): return 1
    f()
    # %%
    print("out"); print("err", file=sys.stderr); os.write(1, b"raw\\n"); subprocess.run(["echo", "child"]); None
    # %%
    f() + 1
    # %%
    y = 3
    """
    outputs = [one.text for one in run(tmp_path, text)]
    assert outputs[0] == "1\n"
    assert sorted(outputs[1].split()) == ["child", "err", "out", "raw"]
    assert outputs[2:] == ["2\n", ""]


def test_a_picture_is_kept_as_one(tmp_path: Path) -> None:
    text = """
    # %%
    class Picture:
        def _repr_svg_(self): return "<svg/>"
    print("beside")
    Picture()
    """
    (output,) = run(tmp_path, text)
    assert output == CellOutput(text="beside\n", picture="<svg/>")


def test_what_a_cell_raises_has_the_line_of_the_file_and_leaves_the_streams_as_they_were(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sys.modules["__main__"]
    with pytest.raises(ZeroDivisionError) as raised:
        run(tmp_path, "\n# %%\nx = 1\n\n# %%\nprint('lost')\n\nx / 0\n")
    assert raised.traceback[-1].lineno + 1 == 9
    assert sys.modules["__main__"] is before
    print("after")
    assert capfd.readouterr().out == "after\n"


def comparable(text: str) -> list[str]:
    """Without what is measured. A line of generated C++ counts once: some processors need the loop's body twice."""
    return [line for line, _ in groupby(MEASURED.sub("≈", text).splitlines())]


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in IN_MAKE_TEST else pytest.mark.prove)
        for name in sorted(one.stem[3:] for one in EXAMPLES.glob("[0-9][0-9]_*.py"))
    ],
)
def test_a_lesson_prints_what_its_page_shows(name: str) -> None:
    lesson = find_lessons()[name]
    record, failure = record_lesson(lesson)
    assert not failure
    (kept,) = (run for run in lesson.runs if run.environment.device == "cpu")
    again = [comparable(one["text"]) for one in record["outputs"]]
    assert again == [comparable(one.text) for one in kept.outputs]
    assert [bool(one["picture"]) for one in record["outputs"]] == [bool(one.picture) for one in kept.outputs]
