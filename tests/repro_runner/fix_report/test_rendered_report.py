"""The folder and its report: nobody loses a file, no text means anything, and a log needs no torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.errors import InvalidInput, WriteFailed
from registry.knowledge import read_package
from registry.merge import merge_registry
from registry.model import Registry
from repro_runner.explain.site import Frequency, Site
from repro_runner.fix_report import Findings, causes_of, check_folder, write_fix_report
from repro_runner.fix_report.fixed_program import FixedProgram, Fixing, Unfixed
from repro_runner.fix_report.report_text import render_report
from repro_runner.fix_report.repros import ReproScript, render_script, script_name
from repro_runner.fix_report.writing import write_files
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

ITEM, BRANCH = "GB0124", "GB0170"


@pytest.fixture(scope="module")
def registry() -> Registry:
    return merge_registry(read_package())


def site(gb_id: str, *, ran: int | None = None, **fields: Any) -> Site:
    gb_ids = (gb_id,) if gb_id else ()
    return Site(**{"gb_ids": gb_ids, "gb_types": (f"type of {gb_id}",), "frequency": Frequency(ran=ran), **fields})


def findings(*sites: Site, torch_xla: bool = False) -> Findings:
    environment = {"torch": "2.13.0", "python": "3.11", "device": "cpu", "device_name": "x86_64"}
    return Findings(subject="run.log", causes=causes_of(sites), environment=environment, torch_xla=torch_xla)


def test_causes_and_places_come_by_how_often_they_ran_or_else_were_compiled() -> None:
    found = causes_of(
        [
            site(ITEM, file="a.py", line=1, compiled=5),
            site(ITEM, file="a.py", line=2, ran=7),
            site(BRANCH, file="a.py", line=3, compiled=9, ran=2),
            site("GB0059", file="a.py", line=4, compiled=20),
        ]
    )
    assert [(one.gb_id, one.count) for one in found] == [("GB0059", 20), (ITEM, 12), (BRANCH, 2)]
    assert [one.line for one in found[1].sites] == [2, 1]


@pytest.mark.slow
def test_the_newest_torch_in_which_the_program_still_breaks_is_named(tmp_path: Path, registry: Registry) -> None:
    written = write_fix_report(tmp_path / "out", findings(site(BRANCH, file="model.py", line=12)), registry)
    text = written.report.read_text("utf-8")
    assert "In torch 2.15.0, the newest that was tried, the registry's program still breaks so." in text


@pytest.mark.slow
def test_a_log_is_handed_over_with_the_registrys_programs_marked_as_such(tmp_path: Path, registry: Registry) -> None:
    place = site(ITEM, file="model.py", line=12, source="x.item()", compiled=3, message="Graph break")
    written = write_fix_report(tmp_path / "out", findings(place, site(""), torch_xla=True), registry)
    text = written.report.read_text("utf-8")
    assert "`model.py:12`" in text
    assert "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0124.html" in text
    assert "torch._dynamo.config.capture_scalar_outputs = True" in text
    assert "No repro: neither" in text
    names = ["repros/GB0124_registry.py", "repros/GB0124_registry_torch_xla.py"]
    assert [one.name for one in written.repros] == names
    assert [one.verdict for one in written.repros] == ["not run", "not run"]
    for name in names:
        script = (tmp_path / "out" / name).read_text("utf-8")
        compile(script, name, "exec")
        assert script.startswith("# ")
        assert "not run" in script.splitlines()[1].lower() + script.splitlines()[0].lower()
    document = json.loads((tmp_path / "out" / "handover.json").read_bytes())
    assert (document["kind"], document["schema"], document["fixed"]) == ("handover", 1, None)
    assert [one["gb_ids"] for one in document["causes"]] == [[ITEM], []]
    assert document["causes"][0]["locations"][0]["line"] == 12
    assert set(document["files"]) == {"report.md", *names}


@pytest.mark.slow
def test_no_torch_is_imported_for_a_log(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from registry.merge import merge_registry
from registry.knowledge import read_package
from repro_runner.explain.site import Site
from repro_runner.fix_report import Findings, causes_of, write_fix_report
found = Findings(subject="a.log", causes=causes_of([Site(gb_ids=("GB0124",), gb_types=("t",))]))
write_fix_report(Path(sys.argv[1]), found, merge_registry(read_package()))
sys.exit("torch" in sys.modules)
"""
    command = [sys.executable, "-c", program, str(tmp_path / "out")]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    assert (tmp_path / "out" / "report.md").exists()


def test_an_earlier_handover_is_replaced_and_other_files_stay(tmp_path: Path, registry: Registry) -> None:
    write_fix_report(tmp_path, findings(site(ITEM)), registry)
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    write_fix_report(tmp_path, findings(site(BRANCH)), registry)
    there = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert there == ["handover.json", "notes.txt", "report.md", "repros/GB0170_registry.py"]
    assert (tmp_path / "notes.txt").read_text("utf-8") == "mine"


@pytest.mark.parametrize("case", ["somebody's folder", "a file", "changed since", "in the way", "a marker of lies"])
def test_nothing_of_anybodys_is_overwritten(tmp_path: Path, case: str) -> None:
    folder = tmp_path / "out"
    kept = folder / "report.md"
    if case == "a file":
        folder.write_text("mine", "utf-8")
        kept = folder
    elif case == "somebody's folder":
        folder.mkdir()
        kept.write_text("mine", "utf-8")
    else:
        write_files(folder, {"report.md": b"first"}, {"kind": "handover", "schema": 1})
    if case == "changed since":
        kept.write_text("mine", "utf-8")
    elif case == "in the way":
        kept = folder / "other.py"
        kept.write_text("mine", "utf-8")
    elif case == "a marker of lies":
        kept = tmp_path / "outside.txt"
        kept.write_text("mine", "utf-8")
        lies = {"kind": "handover", "schema": 1, "files": {"../outside.txt": "0", str(kept): "0"}}
        (folder / "handover.json").write_text(json.dumps(lies), "utf-8")
        (folder / "report.md").unlink()
        write_files(folder, {"new.md": b"new"}, {"kind": "handover", "schema": 1})
        assert kept.read_text("utf-8") == "mine"
        return
    with pytest.raises(InvalidInput) as refused:
        write_files(folder, {"report.md": b"second", "other.py": b""}, {"kind": "handover", "schema": 1})
    assert len(str(refused.value).splitlines()) == 1
    assert kept.read_text("utf-8") == "mine"


def test_a_new_or_empty_folder_is_fine_and_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    check_folder(tmp_path / "new")
    check_folder(tmp_path)
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(WriteFailed, match="name another folder"):
        write_files(tmp_path / "file" / "out", {"a": b""}, {})


def test_a_hostile_break_stays_text_in_report_and_scripts(tmp_path: Path, registry: Registry) -> None:
    nasty = '"""\nimport os\n```\n# heading <script>\\'
    place = site(ITEM, file=f"{nasty}.py", line=1, function=nasty, source=nasty, message=nasty)
    text = write_fix_report(tmp_path / "out", findings(place), registry).report.read_text()
    assert "\n# heading <script>" not in text.replace("````\n" + nasty, "")
    assert [line for line in text.splitlines() if line.startswith("import os")] == ["import os"]
    script = render_script("import torch\ndef broken(): ...", [nasty, "Second."], fatal=False)
    compiled = compile(script, "a.py", "exec")
    assert "import os" in (compiled.co_consts[0] or "")
    assert script_name(ITEM, nasty, 3).isascii()
    assert "/" not in script_name(ITEM, "../../x y.py", 3).removeprefix("repros/")


MESSAGE = """Graph break
  Explanation: `.item()` was called on this very line.
  Hint: Set the flag.

 For more details about this graph break, please visit: https://example.org/gb0124.html"""


def test_each_thing_is_said_once_and_torchs_own_words_come_before_the_registrys_case(registry: Registry) -> None:
    first = site(ITEM, file="train.py", line=3, ran=9, message=MESSAGE)
    surfaced = site(ITEM, gb_ids=(ITEM, "GB7000"), gb_types=("a", "b"), message=MESSAGE, ran=4)
    branch = site(BRANCH, file="train.py", line=7, ran=2)
    text = render_report(findings(first, surfaced, branch), {}, None, registry)
    assert text.count("While it traces, Dynamo knows a tensor's shape") == 1  # the category's paragraph
    assert text.count("see cause 1.") == 2
    assert text.count("torch._dynamo.config.capture_scalar_outputs = True\n") == 1
    assert "stands under cause 1" in text
    assert "please visit" not in text
    own, case = text.index("was called on this very line"), text.index("The registry's smallest case of GB0124")
    assert own < case
    assert "export TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS" not in text  # a hint: the message has its own
    assert "| environment | torch 2.13.0, Python 3.11, device cpu, device name x86_64 |" in text
    of_a_log = render_report(findings(site(ITEM, message="first line only")), {}, None, registry)
    assert "export TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS" in of_a_log


def test_what_is_in_a_library_comes_last_and_without_the_folder_of_this_machine(registry: Registry) -> None:
    library = site(ITEM, file=json.__file__, line=3, ran=9)
    text = render_report(findings(library, site(ITEM, file="train.py", line=3)), {}, None, registry)
    assert "| `train.py:3` and 1 more | ran at least 9 times |" in text
    assert "- `…/json/__init__.py:3` (ran 9 times, in 1 compilation)\n" in text
    assert str(Path(json.__file__).parent) not in text


def test_the_report_says_what_was_fixed_what_was_not_and_how_to_run_it(registry: Registry) -> None:
    place = site(ITEM, file="train.py", line=3, function="f", ran=4, lost_seconds=1.5)
    repro = ReproScript(
        name="repros/GB0124_train_3.py", text="", origin="your code", verdict="not confirmed", said="it does not break."
    )
    fixed = FixedProgram(
        name="train_fixed.py", text="", encoding="utf-8", breaks_before=3, breaks_after=1, outputs="equal", patches=()
    )
    stays = Unfixed(where="lib.py:9", gb_id=BRANCH, reason="it is not in the program's own file")
    found = findings(place)
    text = render_report(found, {0: (repro,)}, Fixing(fixed=fixed, unfixed=(stays,)), registry)
    assert "3 breaks before, 1 after" in text
    assert "- `train.py:3`, in `f` (ran 4 times, in 1 compilation)\n" in text
    assert "- Lost to it: 1.50 s of compilation.\n" in text
    assert "## What could not be fixed\n\n- `lib.py:9`, GB0170: it is not in the program's own file" in text
    assert "Not confirmed: it does not break." in text
    assert "python repros/GB0124_train_3.py" in text
    none = render_report(found, {}, Fixing(why_none="no mechanical fix lowers the number of breaks"), registry)
    assert "There is none: no mechanical fix lowers the number of breaks" in none
    assert "No graph breaks were found." in render_report(findings(), {}, Fixing(why_none="x"), registry)
