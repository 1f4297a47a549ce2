"""`graphbreak learn`: lists lessons, runs one before the reader's eyes, and refuses in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from repro_runner.cli import main as graphbreak
from repro_runner.lessons import recording

LESSON = '''"""A title.

A lead.
"""

# %% [markdown]
# Some **text**.

# %%
print("one")
1 + 1
# %%
{last}
'''


@pytest.fixture
def lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(recording, "EXAMPLES", tmp_path)
    return tmp_path


def write(folder: Path, last: str) -> None:
    (folder / "01_short.py").write_text(LESSON.format(last=last), "utf-8")


def test_lessons_are_listed_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert graphbreak(["learn", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed[0].split()[0] == "start"
    assert listed[0].endswith("torch.compile in ten minutes")
    assert len(listed) == len(list(recording.EXAMPLES.glob("[0-9][0-9]_*.py")))


@pytest.mark.torch
def test_text_code_and_output_are_shown_in_turn(lessons: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(lessons, "print('two')")
    assert graphbreak(["learn", "short"]) == 0
    shown = capsys.readouterr().out
    places = [
        shown.index(text) for text in ("A title", "Some text.", 'print("one")', "\none\n2\n", "print('two')", "\ntwo\n")
    ]
    assert places == sorted(places)


@pytest.mark.torch
def test_a_lesson_that_raises_is_exit_code_1_with_its_line(lessons: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(lessons, "1 / 0")
    assert graphbreak(["learn", "short"]) == 1
    assert 'short.py", line 13' in capsys.readouterr().err


@pytest.mark.torch
def test_what_a_lesson_needs_and_does_not_find_is_told_in_one_line(
    lessons: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(lessons, "raise SystemExit('c++ not found: install g++')")
    assert graphbreak(["learn", "short"]) == 2
    assert capsys.readouterr().err == "short: c++ not found: install g++\n"


@pytest.mark.torch
def test_without_a_compiler_it_is_one_line(lessons: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(lessons, "raise RuntimeError('InductorError: InvalidCxxCompiler: No working C++ compiler found')")
    assert graphbreak(["learn", "short"]) == 2
    assert capsys.readouterr().err == "short: needs a C++ compiler; Debian has one in `g++`\n"


def test_an_unknown_name_and_a_checkout_without_lessons_are_told_in_one_line(
    lessons: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert graphbreak(["learn", "--list"]) == 2
    assert "they are in the repository" in capsys.readouterr().err
    write(lessons, "pass")
    assert graphbreak(["learn", "nothing"]) == 2
    assert capsys.readouterr().err == "nothing: is no lesson; `graphbreak learn --list` has their names\n"


def test_without_torch_it_is_one_line() -> None:
    code = (
        "import importlib.metadata as m, sys\n"
        "def gone(name): raise m.PackageNotFoundError(name)\n"
        "import repro_runner.environment as e; e.version = gone\n"
        "from repro_runner.cli import main; sys.exit(main(['learn', 'start']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "torch" in done.stderr
