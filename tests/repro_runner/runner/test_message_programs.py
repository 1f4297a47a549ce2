"""Programs that cause a message: the committed runs hold, and a run tells a fix that helps from one that does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from registry.errors import InvalidInput
from registry.matching import Matcher
from registry.message_programs import find_problems, read_message_programs
from repro_runner.cli import main
from repro_runner.runner.messages import run_message_program
from tests.committed import committed_registry
from tests.conftest import ROOT

FOLDER = ROOT / "registry" / "message_programs"
PROGRAM = '''"""Compiles for sizes that differ."""
import torch

ENVIRONMENT = {"TORCH_LOGS": "recompiles"}


def double(x):
    return x * 2


def call(**options):
    compiled = torch.compile(double, backend="eager", **options)
    return tuple(compiled(torch.ones(size)) for size in (2, 3))


def message():
    call(dynamic=False)


def fixed():
    """Use this when sizes differ."""
    return call(dynamic=True)


def fixed_not():
    """Use this when nothing helps."""
    return call(dynamic=False)


def fixed_wrong():
    """Use this when the result does not matter."""
    return (torch.zeros(2), torch.zeros(3))


def eager():
    return tuple(double(torch.ones(size)) for size in (2, 3))
'''


def test_every_committed_run_is_of_the_program_as_it_is_and_holds() -> None:
    programs = read_message_programs(FOLDER)
    assert len(programs) >= 40
    assert [name for name, one in programs.items() if one.device == "cpu" and "2.13.0" not in torches(one.runs)] == []
    for path in FOLDER.glob("*.json"):
        records = json.loads(path.read_text("utf-8"))["records"]
        assert set(records) <= set(programs), path.name
        if "2.13.0" in path.name:
            assert list(find_problems(records)) == []


def torches(runs: tuple[object, ...]) -> set[str]:
    return {run.environment.torch for run in runs}  # type: ignore[attr-defined]


def test_at_least_20_messages_have_a_page_and_most_a_program() -> None:
    messages = {one.slug for one in committed_registry().other_messages}
    programs = committed_registry().message_programs
    assert len(messages) >= 20
    assert len(messages & programs.keys()) > len(messages) / 2
    assert {name for name in programs if not name.startswith("GB")} <= messages


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.prove
def test_a_run_tells_what_helps_from_what_does_not(tmp_path: Path) -> None:
    (tmp_path / "recompiles.py").write_text(PROGRAM, "utf-8")
    program = read_message_programs(tmp_path)["recompiles"]
    record = run_message_program(program, Matcher.from_registry(committed_registry()))
    assert "Recompiling function double in program.py" in record["printed"]
    assert record["fixes"]["fixed"] == {"silent": True, "equal": True}
    assert record["fixes"]["fixed_not"] == {"silent": False, "equal": True}
    assert record["fixes"]["fixed_wrong"]["equal"] is False
    assert len(list(find_problems({"recompiles": record}))) == 2


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.timeout(2 * 3600)  # 23 minutes on an idle machine
def test_every_program_still_does_what_its_record_says(tmp_path: Path) -> None:
    out = tmp_path / "runs.json"
    assert main(["run", "--messages", "--out", str(out)]) == 0
    committed = json.loads((FOLDER / "torch-2.13.0-cpu.json").read_text("utf-8"))["records"]
    found = json.loads(out.read_text("utf-8"))["records"]
    assert {name: one["fixes"] for name, one in found.items()} == {
        name: one["fixes"] for name, one in committed.items()
    }


def test_a_run_outlives_another_caption_but_not_another_line(tmp_path: Path) -> None:
    written = tmp_path / "recompiles.py"

    def sha256(text: str) -> str:
        written.write_text(text, "utf-8")
        return read_message_programs(tmp_path)["recompiles"].sha256

    before = sha256(PROGRAM)
    assert sha256(PROGRAM.replace("Use this when sizes differ.", "Use this when no two sizes agree.")) == before
    assert sha256(PROGRAM.replace("x * 2", "x * 3")) != before
    assert sha256(PROGRAM.replace("def call", "# Its messages name other lines now.\ndef call")) != before


def test_a_program_without_its_parts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text('"""Lead."""\n\n\ndef fixed():\n    """Use this."""\n', "utf-8")
    (tmp_path / "two.py").write_text('"""Lead."""\n\n\ndef message(): ...\n\n\ndef fixed():\n    """Use."""\n', "utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_message_programs(tmp_path)
    assert "one.py:1: needs a function `message`" in str(caught.value)
    assert "two.py:1: needs a function `eager`" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["no-such-message", "cudagraph-overwritten"])
def test_a_name_that_no_program_has_for_the_device_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--messages", name]) == 2
    refusal = f"{name}: has no program in registry/message_programs, or none for this device"
    assert refusal in capsys.readouterr().err
