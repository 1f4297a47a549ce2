"""What a wheel of this project holds, and that it works where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.checkout import copy_sources
from tests.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.index]  # the build backend comes from the package index


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    copy_sources(folder / "source")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(folder / "source"),
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_the_registrys_data_is_in_the_wheel(installed: Path) -> None:
    for pattern in ("snapshot/*.json", "releases/*.json", "measurements/*.json", "*.yml", "other_messages/*", "*.css"):
        here = {path.relative_to(ROOT).as_posix() for path in (ROOT / "registry").glob(pattern)}
        there = {path.relative_to(installed).as_posix() for path in (installed / "registry").glob(pattern)}
        assert here
        assert there == here


def test_the_toolkits_files_are_in_the_wheel(installed: Path) -> None:
    here = {path.relative_to(ROOT) for path in (ROOT / "repro_runner").rglob("*") if path.suffix not in ("", ".pyc")}
    there = {path.relative_to(installed) for path in (installed / "repro_runner").rglob("*") if path.suffix}
    assert there == here


def test_graphbreak_show_works_where_there_is_no_checkout(installed: Path, tmp_path: Path) -> None:
    answer = run(installed, tmp_path, "-m", "repro_runner", "show", "124")
    assert answer.returncode == 0
    assert answer.stdout.startswith("GB0124: Unsupported Tensor.item() call")
    assert str(installed) not in answer.stdout


def test_generate_site_says_that_it_needs_a_checkout(installed: Path, tmp_path: Path) -> None:
    answer = run(installed, tmp_path, "-m", "generate_site", "--check")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "not a checkout of the graph break registry; cd to one, or name it with --root" in answer.stderr


@pytest.mark.prove
def test_an_installed_generate_site_works_in_a_checkout(installed: Path) -> None:
    answer = run(installed, ROOT, "-m", "generate_site", "--check")
    assert (answer.returncode, answer.stderr) == (0, "")
