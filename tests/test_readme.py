"""What the README and docs/tools/device.md show is what the commands print."""

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
_SECTION = "## Three examples\n"
TRAIN = """\
import torch


@torch.compile(backend="eager")
def step(x):
    if x.norm() > 5:
        x = x / x.norm()
    return x * 2


step(torch.ones(64))
"""


def blocks(kind: str) -> list[str]:
    section = (ROOT / "docs" / "tools" / "device.md").read_text("utf-8").partition(_SECTION)[2].partition("\n## ")[0]
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
def test_an_example_prints_what_its_page_shows(number: int, folder: Path) -> None:
    check_session(blocks("console")[number], folder)


def check_session(session: str, folder: Path) -> None:
    """Each command of a session prints each piece of what is shown below it."""
    asked = re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]
    assert asked
    for command, _, shown in (each.partition("\n") for each in asked):
        printed = run(command, folder)
        for text in filter(None, map(str.strip, shown.split("…"))):
            assert text in printed, f"{command}\n{printed}"


def test_the_readme_shows_what_explain_prints(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    (session,) = (found[2] for found in _BLOCK.finditer(readme) if "GB0170 resumed" in found[2])
    check_session(session.partition("\n")[2], tmp_path)  # without the installation


def test_the_readme_ends_and_what_it_names_is_there() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 200
    assert len(readme.split()) <= 1500
    linked = [address for address in re.findall(r"\]\(([^)#]+)", readme) if "://" not in address]
    assert [address for address in linked if not (ROOT / address).exists()] == []
