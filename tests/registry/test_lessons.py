"""Lessons are read in cells, and what they printed belongs to one version of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from registry.errors import InvalidInput
from registry.knowledge import read_package
from registry.lessons import KIND, SCHEMA, read_lessons
from registry.merge import merge_registry
from registry.result_files import result_text

LESSON = '''"""What it is about.

The lead,
in two lines.

Explains: GB0039, recompiles
"""

# %% [markdown]
# Some **text**.
#
# - more

# %%

import math

print(math.pi)

# %%
1 + 1
'''


FILE_OF_A_MACHINE = re.compile(r"(?<![\w.…/:-])/[\w.-]+/[^\s<>\"']*\.py\b")


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_lesson_has_text_code_and_what_it_explains(tmp_path: Path) -> None:
    write(tmp_path, "03_about_it.py", LESSON)
    (lesson,) = read_lessons(tmp_path, tmp_path)
    assert (lesson.name, lesson.title, lesson.lead) == ("about_it", "What it is about", "The lead, in two lines.")
    assert lesson.explains == ("GB0039", "recompiles")
    assert lesson.page == "learn/about-it.html"
    assert [cell.text for cell in lesson.cells] == ["Some **text**.\n\n- more", "", ""]
    assert [cell.code for cell in lesson.cells[1:]] == ["import math\n\nprint(math.pi)", "1 + 1"]
    lines = LESSON.splitlines()
    assert [lines[cell.line - 1] for cell in lesson.cells[1:]] == ["import math", "1 + 1"]


def test_a_run_is_shown_only_for_the_code_that_was_run(tmp_path: Path) -> None:
    path = write(tmp_path, "01_about_it.py", LESSON)
    (lesson,) = read_lessons(tmp_path, tmp_path)
    outputs = [{"text": "3.14", "picture": ""}, {"text": "2", "picture": "<svg/>"}]
    records = {"about_it": {"sha256": lesson.sha256, "outputs": outputs}, "gone": {"sha256": "", "outputs": []}}
    for device in ("a-gpu", "cpu"):
        environment = {"torch": "2.13.0", "device": device, "device_name": f"{device} of ours"}
        write(tmp_path, f"{device}.json", result_text(KIND, SCHEMA, environment, records))
    (lesson,) = read_lessons(tmp_path, tmp_path)
    assert [run.device_name for run in lesson.runs] == ["cpu of ours", "a-gpu of ours"]
    run = lesson.runs[0]
    assert (run.environment.torch, run.outputs[1].picture) == ("2.13.0", "<svg/>")
    path.write_text(LESSON.replace("Some **text**", "Plainer text"), "utf-8")
    assert len(read_lessons(tmp_path, tmp_path)[0].runs) == 2
    for code in (LESSON.replace("1 + 1", "1 + 2"), LESSON.replace("Some **text**", "Text,\n# a line longer")):
        path.write_text(code, "utf-8")
        assert read_lessons(tmp_path, tmp_path)[0].runs == ()


def test_everything_that_is_no_lesson_is_told_at_once(tmp_path: Path) -> None:
    write(tmp_path, "01_a.py", "x = 1\n")
    write(tmp_path, "02_b.py", '"""Title."""\nx = 1\n')
    write(tmp_path, "03_c.py", '"""Title."""\n# %%\nx = (\n')
    with pytest.raises(InvalidInput) as refused:
        read_lessons(tmp_path, tmp_path)
    reasons = [f"{Path(one.where).name} {one.message}" for one in refused.value.problems]
    assert "01_a.py:1 needs a docstring" in reasons[0]
    assert "02_b.py:1 has no cells" in reasons[1]
    assert "03_c.py:3" in reasons[2]


@pytest.mark.slow
def test_every_committed_lesson_was_run_as_it_is_and_explains_what_there_is() -> None:
    registry = merge_registry(read_package())
    known = {
        *(gb.gb_id for gb in registry),
        *(one.key for one in registry.categories),
        *(one.slug for one in registry.other_messages),
    }
    assert registry.lessons[0].name == "start"
    for lesson in registry.lessons:
        assert set(lesson.explains) <= known, lesson.name
        devices = ["cpu", "cuda"] if lesson.uses("cuda") else ["cpu"]
        assert [run.environment.device for run in lesson.runs] == devices, f"{lesson.name}: record it again"
        for run in lesson.runs:
            assert len(run.outputs) == sum(bool(cell.code) for cell in lesson.cells)
            shown = "".join(output.text + output.picture for output in run.outputs)
            assert FILE_OF_A_MACHINE.findall(shown) == [], lesson.name
