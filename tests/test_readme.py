"""The three examples of the README are run as they stand there, and print what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.scheduling import sampled

pytestmark = [pytest.mark.torch, pytest.mark.slow]

_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SECTION = "### Three examples\n"


def blocks(kind: str) -> list[str]:
    section = (ROOT / "README.md").read_text("utf-8").partition(_SECTION)[2].partition("\n### ")[0]
    return [found[2] for found in _BLOCK.finditer(section) if found[1] == kind]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for block in blocks("python"):
        name = block.partition("\n")[0].removeprefix("# ")
        assert name.endswith(".py")
        (tmp_path / name).write_text(block, "utf-8")
    return tmp_path


def run(command: str, folder: Path) -> str:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "PYTHONPATH": str(ROOT)}
    environment.pop("GRAPHBREAK_ARTIFACTS", None)
    ended = subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return f"{ended.stdout}\n{ended.stderr}"


@pytest.mark.parametrize(
    "number",
    sampled(3),
    ids=["a refused layer", "a wrong backend", "bench, guards, report"],
)
def test_an_example_prints_what_the_readme_shows(number: int, folder: Path) -> None:
    asked = re.split(r"^\$ ", blocks("console")[number], flags=re.MULTILINE)[1:]
    assert asked
    for command, _, shown in (each.partition("\n") for each in asked):
        printed = run(command, folder)
        for text in filter(None, map(str.strip, shown.split("…"))):
            assert text in printed, f"{command}\n{printed}"
