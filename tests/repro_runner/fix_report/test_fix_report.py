"""`--report`: a program with seven places at which graphs break, handed over, and all that is said about it checked."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from registry.knowledge import read_package
from registry.merge import merge_registry
from repro_runner.explain.render.formats import Wishes, read_and_render
from repro_runner.explain.render.view import Outcome
from repro_runner.explain.report import Report
from repro_runner.fix_report import Children, FixReport, findings_of_program, write_fix_report
from repro_runner.fix_report.fixing import find_fixes
from repro_runner.fix_report.repros import CutLimits
from tests.repro_runner.fixtures import FIXTURES

pytestmark = pytest.mark.torch

PROGRAM = FIXTURES / "programs" / "untidy.py"
BROKEN = {
    "GB0059": "scaling",
    "GB0170": "if x.sum() > 0",
    "GB0124": ".item()",
    "GB0007": "time.time()",
    "GB0025": "x = x + 1; torch",
    "GB0025 GB7000": "graph_break()  # GB0025 and GB7000",
    "GB0025 GB0066": "        torch._dynamo.graph_break()\n    return x\n\n\nscale",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    folder: Path
    written: FixReport
    document: dict[str, Any]
    told: list[str]
    report: Report


@pytest.fixture(scope="module")
def handed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handed]:
    import torch

    from repro_runner.explain.program import ProgramToRun
    from repro_runner.explain.running import run_program

    before = {path: path.read_bytes() for path in PROGRAM.parent.iterdir() if path.is_file()}
    program = ProgramToRun(script=str(PROGRAM), arguments=("3",))
    folder = tmp_path_factory.mktemp("handover") / "out"
    report = run_program(program)
    torch._dynamo.reset()
    told: list[str] = []
    with Children() as children:
        fixing = find_fixes(report, program, children, tell=told.append)
        written = write_fix_report(
            folder,
            findings_of_program(report, program),
            merge_registry(read_package()),
            fixing=fixing,
            children=children,
            limits=CutLimits(in_all=0),  # test_cutting.py has what cuts repros down
            tell=told.append,
        )
    document = json.loads((folder / "handover.json").read_bytes())
    yield Handed(folder=folder, written=written, document=document, told=told, report=report)
    assert {path: path.read_bytes() for path in before} == before


def line_of(part: str) -> int:
    text = PROGRAM.read_text("utf-8")
    assert text.count(part) == 1
    return text[: text.index(part)].count("\n") + 1


def test_every_cause_is_there_with_its_chain_its_place_and_its_count(handed: Handed) -> None:
    places = {
        " ".join(cause["gb_ids"]): [(Path(one["file"]).name, one["line"]) for one in cause["locations"]]
        for cause in handed.document["causes"]
    }
    expected = {ids: [("untidy.py", line_of(part))] for ids, part in BROKEN.items()}
    assert places.items() >= expected.items()
    assert places["GB0142"] == [("elsewhere.py", 17)]
    counts = [cause["count"] for cause in handed.document["causes"]]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] >= 3


def test_every_break_has_a_repro_of_the_users_code_that_was_seen_to_break_so(handed: Handed) -> None:
    for cause in handed.document["causes"]:
        (first, *_) = cause["repros"]
        if cause["gb_ids"][0] == "GB0142":
            continue
        assert first["origin"].startswith("your code"), first
        assert first["verdict"] == "confirmed", first
        assert cause["gb_ids"][0] in first["said"]


def test_where_nothing_can_be_made_of_the_code_the_registrys_program_says_so(handed: Handed) -> None:
    (cause,) = [one for one in handed.document["causes"] if one["gb_ids"][0] == "GB0142"]
    assert [one["file"] for one in cause["repros"]] == ["repros/GB0142_registry.py"]
    (repro,) = cause["repros"]
    assert repro["origin"] == "the registry's program, not yours"
    assert "Nothing could be made of your code: measured needs queue, an object of class Queue" in repro["said"]


@pytest.mark.prove
def test_the_scripts_need_nothing_but_torch_and_print_the_break_with_its_link(handed: Handed) -> None:
    scripts = sorted((handed.folder / "repros").glob("GB*_untidy_*.py"))
    assert len(scripts) == len(BROKEN)
    program = """
import runpy, sys, torch
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("repro_runner", "registry", "elsewhere"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
for script in sys.argv[1:]:
    print("== " + script, file=sys.stderr, flush=True)
    runpy.run_path(script, run_name="__main__")
    torch._dynamo.reset()
"""
    command = [sys.executable, "-I", "-c", program, *map(str, scripts)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=handed.folder)
    assert done.returncode == 0, done.stderr[-2000:]
    for said in done.stderr.split("== ")[1:]:
        name = Path(said.splitlines()[0]).name
        assert f"/gb/{name.partition('_')[0].lower()}.html" in said, name


def test_where_the_time_is_over_before_repros_are_cut_down_all_say_so(handed: Handed) -> None:
    sentence = "It was not cut down, since the 0 s for all repros were used up."
    scripts = [one["file"] for cause in handed.document["causes"] for one in cause["repros"] if "untidy" in one["file"]]
    assert len(scripts) == len(BROKEN)
    assert {line for line in handed.told if sentence in line} == {f"{name}: {sentence}" for name in scripts}
    assert handed.written.report.read_text("utf-8").count(sentence) == len(scripts)
    for name in scripts:
        assert sentence in " ".join((handed.folder / name).read_text("utf-8").split())


def test_inputs_are_drawn_with_the_shapes_that_were_seen(handed: Handed) -> None:
    script = (handed.folder / f"repros/GB0059_untidy_{line_of('scaling')}.py").read_text("utf-8")
    assert "torch.randn(2, 6)" in script
    assert "torch.rand(6)" in script
    assert "Confirmed: run in a process of its own" in script
    assert "import elsewhere" not in script


def test_the_fixed_program_has_fewer_breaks_equal_outputs_and_differs_only_where_it_must(handed: Handed) -> None:
    fixed = handed.document["fixed"]
    assert (fixed["file"], fixed["breaks_before"], fixed["breaks_after"]) == ("untidy_fixed.py", 8, 2)
    assert fixed["outputs"].startswith("equal (of 3 calls of compiled code;")
    assert fixed["outputs"].endswith("it prints the same")
    text = (handed.folder / "untidy_fixed.py").read_text("utf-8")
    assert "8 breaks before, 2 after" in text
    changes = list(difflib.ndiff(PROGRAM.read_text("utf-8").splitlines(), text.splitlines()))
    went = [line[2:].strip() for line in changes if line.startswith("- ")]
    came = [line[2:].strip() for line in changes if line.startswith("+ ") and not line.startswith("+ # ")]
    assert went == [
        'print("scaling", x.shape, f"by {self.weight.shape[0]} weights")  # GB0059',
        "if x.sum() > 0:  # GB0170",
        "return x + OFFSET",
        "return x - OFFSET",
        "x = x + 1; torch._dynamo.graph_break(); return x * 3  # GB0025",
        "torch._dynamo.graph_break()  # GB0025 and GB7000",
        "torch._dynamo.graph_break()",
    ]
    assert came == [
        "torch._dynamo.config.capture_scalar_outputs = True",
        "torch._higher_order_ops.print('scaling {!s} by {} weights', str(x.shape), self.weight.shape[0])  # GB0059",
        "# GB0170",
        "return torch.where(x.sum() > 0, x + OFFSET, x - OFFSET)",
        "x = x + 1; pass; return x * 3  # GB0025",
        "# GB0025 and GB7000",
    ]


def test_each_fix_is_shown_on_the_users_own_lines_and_applies_to_them(handed: Handed, tmp_path: Path) -> None:
    (tmp_path / PROGRAM.name).write_bytes(PROGRAM.read_bytes())
    text = " ".join(read_and_render(Outcome(report=handed.report), Wishes()).split())
    fixed = {}
    for site in handed.report.sites:
        assert site.own_fix is not None
        if site.own_fix.why_none:
            assert f"tried no fix of your own code held: {site.own_fix.why_none}" in text
            continue
        fixed[" ".join(site.gb_ids)] = site.own_fix
        subprocess.run(["git", "apply", "--check"], input=site.own_fix.diff, text=True, check=True, cwd=tmp_path)
    assert fixed.keys() == BROKEN.keys() - {"GB0007"}
    changed = [line for line in fixed["GB0170"].diff.splitlines() if line[:1] in "+-"][2:]
    assert changed == [
        "-    if x.sum() > 0:  # GB0170",
        "-        return x + OFFSET",
        "-    return x - OFFSET",
        "+    # GB0170",
        "+    return torch.where(x.sum() > 0, x + OFFSET, x - OFFSET)",
    ]
    assert "+ return torch.where(x.sum() > 0, x + OFFSET, x - OFFSET)" in text
    verified = "(run on your code with all fixes: 8 break sites before, 2 after, outputs equal)"
    assert text.count(verified) == len(fixed)
    report = handed.written.report.read_text("utf-8")
    assert all(indent(fix.diff.rstrip(), "  ", lambda _: True) in report for fix in fixed.values())


def test_what_was_not_fixed_is_listed_with_the_reason(handed: Handed) -> None:
    stays = {one["gb_id"]: one["reason"] for one in handed.document["unfixed"]}
    assert set(stays) == {"GB0007", "GB0142"}
    assert set(stays.values()) == {"no mechanical fix is known for it"}
    text = handed.written.report.read_text("utf-8")
    assert "## What could not be fixed" in text
    assert all(reason in text for reason in stays.values())


def test_the_fixed_program_breaks_as_it_says_when_somebody_else_runs_it(
    handed: Handed, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from repro_runner.explain.program import ProgramToRun
    from repro_runner.explain.running import run_program

    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    with torch._dynamo.config.patch(capture_scalar_outputs=False):
        report = run_program(ProgramToRun(script=str(handed.folder / "untidy_fixed.py"), arguments=("3",)))
    torch._dynamo.reset()
    assert report.program.error == ""
    assert sorted(site.gb_ids[0] for site in report.sites) == ["GB0007", "GB0142"]
