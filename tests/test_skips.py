"""In CI every skip fails, wherever it comes from, unless it is a GPU test that says there is no GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SKIPS = """
import pytest

pytestmark = pytest.mark.slow

@pytest.fixture
def missing():
    pytest.skip("in a fixture")

def test_fixture(missing): pass

def test_body(): pytest.skip("in the test")

@pytest.mark.skipif(True, reason="by a marker")
def test_marker(): pass

@pytest.mark.gpu
@pytest.mark.skipif(True, reason="no GPU")
def test_gpu(): pass

@pytest.mark.gpu
def test_gpu_without_a_tool(): pytest.skip("jekyll is not installed")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ci", "summary"), [("true", "2 failed, 1 skipped, 2 errors in"), ("", "5 skipped in")], ids=["in CI", "elsewhere"]
)
def test_a_skip(ci: str, summary: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SKIPS, "utf-8")
    options = ["-q", "-p", "tests.conftest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-p", "no:cacheprovider", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    assert summary in done.stdout
    assert "1 tests need a GPU and were skipped" in done.stdout or not ci
