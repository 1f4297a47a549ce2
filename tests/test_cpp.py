"""The C++ of examples/cpp builds without a warning, and its own tests pass. A lesson runs the model without Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

COMPILER = ROOT / "examples" / "cpp" / "compiler"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.prove
def test_the_small_compiler_builds_without_a_warning_and_passes_its_tests(tmp_path: Path) -> None:
    build = str(tmp_path)
    for command in (
        ["cmake", "-S", str(COMPILER), "-B", build, "-DCMAKE_CXX_FLAGS=-Werror"],
        ["cmake", "--build", build],
        ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error"],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "100% tests passed" in done.stdout
