"""The arrows between the rooms, read from the imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

MAY_IMPORT = {
    "registry": {"registry"},
    "sitegen": {"registry", "sitegen"},
    "repro_runner": {"registry", "repro_runner"},
    "generate_site.py": {"registry", "sitegen"},
}
ROOMS = {"registry", "sitegen", "repro_runner", "generate_site", "tests", "benchmarks"}


def modules(room: str) -> list[Path]:
    path = ROOT / room
    found = (
        [path] if path.is_file() else sorted(p for p in path.rglob("*.py") if "repros" not in p.relative_to(path).parts)
    )
    assert found
    return found


def imported(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative imports hide the arrow"
            yield node.lineno, (node.module or "").partition(".")[0]


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_the_rooms_it_may(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: imports {name}"
        for path in modules(room)
        for line, name in imported(path)
        if name in ROOMS and name not in MAY_IMPORT[room]
    ]
    assert wrong == []


@pytest.mark.parametrize("room", ["registry", "sitegen", "generate_site.py"])
def test_torch_is_imported_only_in_repro_runner(room: str) -> None:
    assert [path for path in modules(room) for _, name in imported(path) if name == "torch"] == []


@pytest.mark.parametrize(
    "command",
    [["generate_site.py", "--help"], ["-m", "repro_runner", "--help"], ["-m", "repro_runner", "show", "--help"]],
)
def test_help_imports_nothing_heavy(command: list[str]) -> None:
    answer = subprocess.run(
        [sys.executable, "-X", "importtime", *command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in answer.stderr.splitlines()}
    assert "argparse" in loaded
    assert loaded.isdisjoint({"torch", "requests", "jinja2", "liquid", "markdown", "rich"})


def test_a_file_has_one_subject() -> None:
    """A long file has two; split it."""
    rooms = ["registry", "sitegen", "repro_runner", "generate_site.py"]
    long = {
        str(path.relative_to(ROOT)): lines
        for room in rooms
        for path in modules(room)
        if (lines := len(path.read_text("utf-8").splitlines())) > 400
    }
    assert long == {}
