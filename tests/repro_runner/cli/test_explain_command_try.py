"""`graphbreak explain --try PATCH SCRIPT`: the verdict as text and as JSON, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repro_runner.cli import main
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE, REFUSED
from tests.repro_runner.fix_report.test_judging import PARTS, PROGRAM, WITHOUT_ITEM, WITHOUT_PRINT

pytestmark = pytest.mark.torch

GOOD = """\
--- a/parts.py
+++ b/parts.py
@@ -1,4 +1,5 @@
+import torch
 def choose(x):
-    if x.sum() > 0:
-        return x + 1
-    return x - 1
+    return torch.where(x.sum() > 0, x + 1, x - 1)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "fix.diff").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.prove
def test_a_diff_that_holds_is_exit_code_0(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--format", "json", "--try", "fix.diff", "train.py"]) == DONE
    found = json.loads(capfd.readouterr().out)
    assert (found["kind"], found["verdict"]) == ("patch-trial", "holds")
    assert found["sentence"] == "holds: 2 breaks instead of 3, outputs equal"
    assert [each["where"] for each in found["breaks_left"]] == ["train.py:7", "train.py:8"]
    assert found["files"] == [str(project / "parts.py")]
    assert (project / "parts.py").read_text() == PARTS


@pytest.mark.prove
@pytest.mark.parametrize(
    ("text", "options", "code", "told"),
    [
        (WITHOUT_ITEM, [], DONE, "holds: 2 breaks instead of 3, outputs equal\n  left: GB0170 at parts.py:2\n"),
        (WITHOUT_PRINT, [], NOT_AS_IT_SHOULD_BE, "refused: the program prints less: 1 lines instead of 2\n"),
        (WITHOUT_PRINT, ["--allow-less-output"], DONE, "holds: 2 breaks instead of 3, outputs equal\n  note: the "),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_whole_program_is_a_patch_too(
    text: str, options: list[str], code: int, told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("changed.py").write_text(text)
    assert main(["explain", "--try", "changed.py", *options, "train.py"]) == code
    assert capfd.readouterr().out.startswith(told)


@pytest.mark.usefixtures("project")
def test_a_patch_that_switches_compilation_off_is_not_run(capfd: pytest.CaptureFixture[str]) -> None:
    Path("changed.py").write_text(PROGRAM.replace('@torch.compile(backend="eager")\n', ""))
    assert main(["explain", "--try", "changed.py", "train.py"]) == NOT_AS_IT_SHOULD_BE
    assert capfd.readouterr().out == "refused, not run: it changes how torch.compile is called\n"


@pytest.mark.parametrize(
    ("patch", "options", "told"),
    [
        (GOOD.replace("x - 1", "x - 2"), [], ["fix.diff:3: hunk 1 of parts.py does not fit: line 4 is "]),
        (PROGRAM, [], ["fix.diff: changes nothing: it is the same as train.py"]),
        ("", [], ["fix.diff: is empty; name a diff, or a changed copy of the program"]),
        (GOOD, ["--fix", "--format", "html"], ["--fix: does not go with --try", "--format html: does not go with"]),
        (GOOD, ["--against", "2.15.0"], ["--try: does not go with --against"]),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_bad_patch_is_exit_code_2(
    patch: str, options: list[str], told: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    Path("fix.diff").write_text(patch)
    assert main(["explain", "--try", "fix.diff", *options, "train.py"]) == REFUSED
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == len(told)
    assert all(line.startswith(start) for line, start in zip(lines, told, strict=True))


@pytest.mark.usefixtures("project")
def test_less_output_is_allowed_only_to_a_patch(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--allow-less-output", "train.py"]) == REFUSED
    assert capfd.readouterr().err == "--allow-less-output: is only for --try; leave it out, or name a patch\n"
