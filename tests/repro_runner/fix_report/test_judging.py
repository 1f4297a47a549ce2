"""A patch is judged by running it: a fix, a dodge, a deleted print, and changes in two files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from registry.model import HOLDS, HOLDS_FOR_WHAT_RAN, REFUSED
from repro_runner.explain.program import ProgramToRun
from repro_runner.fix_report.judging import JudgedPatch, judge_patch
from repro_runner.fix_report.trial import TrialRunner

pytestmark = pytest.mark.torch

PARTS = """\
def choose(x):
    if x.sum() > 0:
        return x + 1
    return x - 1
"""
FIXED_PARTS = """\
import torch


def choose(x):
    return torch.where(x.sum() > 0, x + 1, x - 1)
"""
PROGRAM = """\
import torch
from parts import choose


@torch.compile(backend="eager")
def step(x):
    y = choose(x) * x.sum().item()
    print("a step")
    return y


if __name__ == "__main__":
    torch.manual_seed(0)
    print("starts")
    step(torch.randn(4))
"""
WITHOUT_ITEM = PROGRAM.replace(".item()", "")
WITHOUT_PRINT = PROGRAM.replace('    print("a step")\n', "")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    (folder / "parts.py").write_text(PARTS)
    (folder / "train.py").write_text(PROGRAM)
    return folder


@pytest.fixture(scope="module")
def trials(project: Path) -> Iterator[TrialRunner]:
    with TrialRunner(ProgramToRun(script=str(project / "train.py"))) as trials:
        yield trials


def judge(trials: TrialRunner, project: Path, *, less_output: bool = False, **after: str) -> JudgedPatch:
    before = {"parts": PARTS, "train": PROGRAM}
    changes = {str(project / f"{name}.py"): (before[name], text) for name, text in after.items()}
    return judge_patch(trials, changes, less_output=less_output, tell=lambda _: None)


def test_a_patch_of_two_files_holds(trials: TrialRunner, project: Path) -> None:
    judged = judge(trials, project, parts=FIXED_PARTS, train=WITHOUT_ITEM)
    assert (judged.verdict, judged.reason, judged.notes) == (HOLDS, "", ())
    assert (judged.breaks_before, judged.breaks_after, judged.outputs) == (3, 1, "equal")
    assert [site.gb_ids for site in judged.sites_after] == [("GB0059",)]
    assert (project / "train.py").read_text() == PROGRAM


def test_a_patch_that_deletes_a_print_is_refused(trials: TrialRunner, project: Path) -> None:
    judged = judge(trials, project, train=WITHOUT_PRINT)
    assert (judged.verdict, judged.reason) == (REFUSED, "the program prints less: 1 lines instead of 2")
    assert (judged.breaks_before, judged.breaks_after) == (3, 2)


@pytest.mark.prove
def test_a_user_may_allow_that_it_prints_less(trials: TrialRunner, project: Path) -> None:
    judged = judge(trials, project, train=WITHOUT_PRINT, less_output=True)
    assert (judged.verdict, judged.notes) == (HOLDS, ("the program prints less: 1 lines instead of 2",))


@pytest.mark.prove
def test_another_result_is_refused(trials: TrialRunner, project: Path) -> None:
    judged = judge(trials, project, train=WITHOUT_ITEM.replace("x.sum()", "x.mean()"))
    assert judged.verdict == REFUSED
    assert judged.reason.startswith("results differ: call 1")


@pytest.mark.parametrize(
    ("train", "told"),
    [
        (PROGRAM.replace('@torch.compile(backend="eager")\n', ""), "it changes how torch.compile is called"),
        (PROGRAM.replace("def step", "@torch.compiler.disable\ndef step"), "it turns compilation off (disable)"),
        (f"import os\nos.system('true')\n{PROGRAM}", "it goes beyond plain torch code: it imports os"),
        (f"{PROGRAM}(", "the patched code does not parse"),
    ],
)
def test_a_patch_that_dodges_is_not_run(trials: TrialRunner, project: Path, train: str, told: str) -> None:
    judged = judge(trials, project, train=train)
    assert (judged.verdict, judged.was_run, judged.breaks_after, judged.outputs) == (REFUSED, False, None, "")
    assert judged.reason.startswith(told)


def test_with_several_files_the_objection_names_the_file(trials: TrialRunner, project: Path) -> None:
    judged = judge(trials, project, parts=f"import os\n{PARTS}", train=WITHOUT_ITEM)
    assert judged.reason == "parts.py: it goes beyond plain torch code: it imports os"


def test_a_patch_that_compiles_again_and_again_says_so(tmp_path: Path) -> None:
    program = """\
import torch


@torch.compile(backend="eager", dynamic=False)
def step(x, n):
    print("a step")
    return x.sum() * 2


for size in range(2, 6):
    step(torch.ones(size)[:2], size)
"""
    (tmp_path / "train.py").write_text(program)
    changed = program.replace('    print("a step")\n', "").replace("* 2", "* 2 * (n // n)")
    changes = {str(tmp_path / "train.py"): (program, changed)}
    with TrialRunner(ProgramToRun(script=str(tmp_path / "train.py"))) as trials:
        judged = judge_patch(trials, changes, less_output=True, tell=lambda _: None)
    assert judged.verdict == HOLDS
    assert any("it compiles again 3 times, before 0; torch gives a function up" in note for note in judged.notes)


def test_what_no_run_reached_is_named(tmp_path: Path) -> None:
    program = """\
import torch


@torch.compile(backend="eager")
def step(x):
    if x.shape[1] > 4:
        raise ValueError("too wide")
    print("a step")
    return x.sum() * 2


step(torch.ones(2, 3))
"""
    changed = program.replace("too wide", "wide").replace('    print("a step")\n', "").replace("> 4", "> 10_000")
    (tmp_path / "train.py").write_text(program)
    changes = {str(tmp_path / "train.py"): (program, changed)}
    with TrialRunner(ProgramToRun(script=str(tmp_path / "train.py"))) as trials:
        refused = judge_patch(trials, changes, less_output=True, tell=lambda _: None)
        changed = changed.replace("10_000", "4")
        changes = {str(tmp_path / "train.py"): (program.replace("> 4", "> 10_000"), changed.replace("> 4", "> 10_000"))}
    assert refused.verdict == REFUSED
    assert refused.reason.startswith("with other inputs (size 3 to 13): raised nothing, not ValueError")
    (tmp_path / "train.py").write_text(program.replace("> 4", "> 10_000"))
    with TrialRunner(ProgramToRun(script=str(tmp_path / "train.py"))) as trials:
        judged = judge_patch(trials, changes, less_output=True, tell=lambda _: None)
    assert judged.verdict == HOLDS_FOR_WHAT_RAN
    assert judged.never_reached == ("line 7: raise ValueError('too wide')", "line 7: raise ValueError('wide') (new)")
