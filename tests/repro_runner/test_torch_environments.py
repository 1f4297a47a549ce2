"""Environments with another torch: made by the real pip, from small wheels in a folder."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from repro_runner import torch_environments
from repro_runner.torch_environments import PACKAGES, Unavailable, installed

pytestmark = pytest.mark.slow


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and an index that has torch 2.98.0 and 2.99.0, the latter broken."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, version in [("torch", "2.98.0"), *((package, "1.0") for package in PACKAGES)]:
        write_wheel(wheels, name, version, f"__version__ = {version!r}\n")
    (wheels / "torch-2.99.0-py3-none-any.whl").write_bytes(b"cut off")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("GRAPHBREAK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write_wheel(folder: Path, name: str, version: str, source: str = "") -> None:
    """A wheel with one module, or with none."""
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        if source:
            wheel.writestr(f"{name}.py", source)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def contents(cache: Path) -> list[Path]:
    return list(cache.iterdir()) if cache.exists() else []


def test_an_environment_has_its_torch_and_is_removed_unless_it_is_kept(cache: Path) -> None:
    asked = ["-c", "import torch; print(torch.__version__)"]
    with installed("2.98.0", keep=True) as python:
        assert subprocess.check_output([python, *asked], text=True) == "2.98.0\n"
    (kept,) = contents(cache)
    with installed("2.98.0") as again:
        assert again == python
    assert contents(cache) == [kept], "what was kept stays"
    (kept / "ready").unlink()
    with pytest.raises(KeyboardInterrupt), installed("2.98.0") as python:
        assert Path(python).exists(), "what a killed run left is made anew"
        raise KeyboardInterrupt
    assert contents(cache) == []


@pytest.mark.parametrize(
    ("release", "python", "said"),
    [
        ("2.97.0", sys.executable, "torch 2.97.0: there is no such release for this Python; there are 2.98.0, 2.99.0"),
        ("2.99.0", sys.executable, "torch 2.99.0 can't be installed: "),
        ("newest", sys.executable, "torch newest: not a release; name one such as 2.15.0"),
        ("2.98.0", "/nowhere/python", "/nowhere/python can't be run: No such file or directory"),
        ("2.98.0", "/bin/echo", "/bin/echo is not Python 3"),
    ],
    ids=["no such release", "does not install", "no number", "no such Python", "no Python"],
)
def test_what_can_not_be_installed_is_one_line_and_leaves_nothing(
    cache: Path, release: str, python: str, said: str
) -> None:
    with pytest.raises(Unavailable, match=r"^[^\n]+$") as caught, installed(release, python, keep=True):
        pytest.fail("there is no such environment")
    assert str(caught.value).startswith(said)
    assert contents(cache) == []


def test_a_disk_that_is_too_full_is_told_before_anything_is_made(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_environments, "NEEDED", 2**70)
    said = r"torch 2\.98\.0 needs .* are free; GRAPHBREAK_CACHE names another folder$"
    with pytest.raises(Unavailable, match=said), installed("2.98.0"):
        pytest.fail("there is no room for it")
    assert contents(cache) == []
