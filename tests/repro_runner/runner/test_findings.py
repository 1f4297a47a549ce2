"""A script of a finding is wrong, right, or broken itself; what it prints is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.datafile import DATA
from registry.findings import WRONG, read_scripts
from repro_runner.runner.findings import run_script

pytestmark = pytest.mark.slow

SCRIPT = f"""\"\"\"A title.

What happens, and what should.
\"\"\"
import os

print("eager: 1", os.environ.get("HOME_OF_SECRETS"))
assert {{}}, "{WRONG}"
"""


@pytest.mark.parametrize(
    ("condition", "wrong", "problem"),
    [("1 == 2", True, ""), ("1 == 1", False, "compiled code gives the same result as eager here")],
)
def test_the_assert_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str, wrong: bool, problem: str
) -> None:
    monkeypatch.setenv("HOME_OF_SECRETS", "a token")
    (tmp_path / "GB0001_one.py").write_text(SCRIPT.format(condition), "utf-8")
    script = read_scripts(tmp_path)["GB0001_one"]
    assert run_script(script, tmp_path, "cpu") == (
        {"sha256": script.sha256, "wrong": wrong, "printed": "eager: 1 None"},
        problem,
    )


def test_nothing_is_kept_of_a_script_that_fails_for_another_reason(tmp_path: Path) -> None:
    (tmp_path / "GB0001_one.py").write_text(SCRIPT.format("1 / 0"), "utf-8")
    record, problem = run_script(read_scripts(tmp_path)["GB0001_one"], tmp_path, "cpu")
    assert (record, problem) == ({}, "ZeroDivisionError: division by zero")


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.parametrize("name", sorted(read_scripts(DATA / "finding_scripts")))
def test_a_script_of_ours_gives_what_was_recorded(name: str) -> None:
    script = read_scripts(DATA / "finding_scripts")[name]
    record, problem = run_script(script, DATA / "finding_scripts", "cpu")
    (kept,) = (run for run in script.runs if (run.environment.torch, run.environment.device) == ("2.13.0", "cpu"))
    assert problem == ("" if kept.is_wrong else "compiled code gives the same result as eager here")
    assert (record["wrong"], record["printed"]) == (kept.is_wrong, kept.printed)
