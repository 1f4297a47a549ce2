"""The repros of a fix report are cut down: what the break does not need goes, within a time limit that is told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from repro_runner.explain.program import ProgramToRun
from repro_runner.explain.running import run_program
from repro_runner.fix_report import findings_of_program
from repro_runner.fix_report.children import Children
from repro_runner.fix_report.cutting import Cutter
from repro_runner.fix_report.repros import CutLimits, ReproScript, make_own_repros

pytestmark = pytest.mark.torch

PACKAGES = {f"package_{number}": [f"package-{number}", "1.0"] for number in range(200)}
BRANCH = """\
import torch


def inputs():
    return (torch.randn(4),)


def broken(x):
    y = x.sin() + 1
    y = y * 2
    if y.sum() > 0:
        return y + 1
    return y - 1
"""
TABLE = f"""\
import torch


METHODS = {dict.fromkeys(map(str, range(100)), "sin") | {"listed": "tolist"}}


def inputs():
    return (torch.randn(4),)


def broken(x):
    return getattr(x, METHODS['listed'])()
"""
LOOP = """\
import torch


def inputs():
    return (torch.randn(4),)


def broken(x):
    for _ in range(3):
        x = x.sin()
        torch._dynamo.graph_break()
    return x.cos()
"""
NOTHING = BRANCH.replace("return y + 1", "print(y + 1)").replace("    return y - 1\n", "")
RAISES = BRANCH.replace("return y - 1", "raise KeyError('lost')").replace("> 0", "> 1e9")
ITEM = BRANCH.replace("if y.sum() > 0:", "if y.sum().item() is not None:")
CAPTURED = "torch._dynamo.config.capture_scalar_outputs = True"


@pytest.fixture(scope="module")
def cutter() -> Iterator[Cutter]:
    with Cutter(each=600, in_all=6000) as cutter:
        yield cutter


@pytest.mark.parametrize(
    ("code", "gb_ids", "there", "gone"),
    [
        pytest.param(BRANCH, ["GB0170"], ["if ", "return"], ["sin", "* 2"], id="a branch"),
        pytest.param(
            TABLE, ["GB0109"], ["{'listed': 'tolist'}"], ["'99'"], id="one entry of a table", marks=pytest.mark.prove
        ),
        pytest.param(
            LOOP,
            ["GB0025", "GB7000"],
            ["for _", "graph_break()"],
            ["cos"],
            id="a break in a loop",
            marks=pytest.mark.prove,
        ),
        pytest.param(
            NOTHING, ["GB0170"], ["if "], ["sin", "* 2"], id="a function that returns nothing", marks=pytest.mark.prove
        ),
        pytest.param(
            RAISES,
            ["GB0170"],
            ["if ", "KeyError('lost')"],
            ["* 2"],
            id="a function that raises",
            marks=pytest.mark.prove,
        ),
    ],
)
def test_what_the_break_does_not_need_goes(
    code: str, gb_ids: list[str], there: list[str], gone: list[str], cutter: Cutter
) -> None:
    cut = cutter.cut({"code": code, "settings": []}, gb_ids, fatal=False)
    assert cut.stopped == ""
    assert [part for part in there if part not in cut.code] == []
    assert [part for part in gone if part in cut.code] == []


@pytest.mark.prove
def test_the_settings_of_the_program_hold_while_it_is_cut_down(cutter: Cutter) -> None:
    assert cutter.cut({"code": ITEM, "settings": [CAPTURED]}, ["GB0124"], fatal=False).code == ITEM
    assert len(cutter.cut({"code": ITEM, "settings": []}, ["GB0124"], fatal=False).code) < len(ITEM)


@pytest.mark.prove
def test_a_break_that_does_not_happen_leaves_the_program_as_it_is(cutter: Cutter) -> None:
    cut = cutter.cut({"code": BRANCH, "settings": []}, ["GB0025"], fatal=False)
    assert (cut.code, cut.stopped) == (BRANCH, "")


@pytest.mark.prove
def test_the_limit_of_one_repro_is_told_and_the_smallest_program_so_far_is_kept() -> None:
    with Cutter(each=600, in_all=0.25) as cutter:
        first, second = (cutter.cut({"code": BRANCH, "settings": []}, ["GB0170"], fatal=False) for _ in range(2))
    assert first.stopped == "Cutting it down was stopped after 0.25 s; it may get smaller."
    assert len(first.code) <= len(BRANCH)
    assert "if " in first.code
    assert second.stopped == "It was not cut down, since the 0.25 s for all repros were used up."
    assert second.code == BRANCH


def repros_of(program: ProgramToRun, limits: CutLimits) -> tuple[list[ReproScript], list[str]]:
    report = run_program(program)
    torch._dynamo.reset()
    told: list[str] = []
    with Children() as children:
        made = make_own_repros(
            findings_of_program(report, program), children, seconds=300, limits=limits, tell=told.append
        )
    return [one for each in made.repros.values() for one in each], told


@pytest.mark.prove
def test_a_large_global_of_the_module_stays_out_of_the_repro(tmp_path: Path) -> None:
    script = tmp_path / "uses_a_table.py"
    script.write_text(
        f"""\
import logging

import torch

INSTALLED = {PACKAGES}
LOGGER = logging.getLogger("table")


@torch.compile(backend="eager")
def report(x, name):
    names = INSTALLED[name]
    version = names[1] if len(names) > 1 else "unknown"
    LOGGER.info(f"{{name}} has version {{version}}")
    return x.sin()


report(torch.randn(4), "package_7")
"""
    )
    (repro,), told = repros_of(ProgramToRun(script=str(script)), CutLimits(each=600, in_all=600))
    assert repro.verdict == "confirmed"
    assert "INSTALLED" not in repro.text
    assert "package_8" not in repro.text
    assert "LOGGER.info(" in repro.text
    assert "Cut down from " in repro.said
    assert told == ["cutting 1 repro down: at most 600 s each, 600 s in all"]
    path = tmp_path / "repro.py"
    path.write_text(repro.text)
    done = subprocess.run([sys.executable, "-I", path], capture_output=True, text=True, check=True)
    assert "/gb/gb0291.html" in done.stderr


@pytest.mark.prove
@pytest.mark.filterwarnings("ignore:.*lru_cache:UserWarning")
def test_the_repro_of_wav2vec2_has_no_list_of_installed_packages() -> None:
    program = ProgramToRun(module="tests.repro_runner.fixtures.hugging_face_models", arguments=("wav2vec2",))
    (repro,), _ = repros_of(program, CutLimits(each=600, in_all=600))
    assert repro.verdict == "confirmed"
    assert "PACKAGE_DISTRIBUTION_MAPPING" not in repro.text
    assert len(repro.text.splitlines()) < 40
    assert len(repro.text) < 2000
