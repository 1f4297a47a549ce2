from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from registry.ids import PRINTED
from registry.repros import parse_repro
from registry.standalone import standalone
from repro_runner import cli
from repro_runner.cli import main
from tests.conftest import ROOT

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("spelled", ["GB0124", "gb0124", "124", "0124"])
def test_show_finds_an_id_however_it_is_spelled(spelled: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", spelled]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("GB0124: Unsupported Tensor.item() call with capture_scalar_outputs=False\n")
    assert "emitted      torch/_dynamo/" in shown
    assert "to include these operations in the captured graph." in shown


def test_show_tells_old_wordings_and_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", "GB0170"])
    shown = capsys.readouterr().out
    assert "formerly     _gb_type" in shown
    assert "hint         (made while it runs; see the message)" in shown


@pytest.mark.parametrize("unknown", ["GB99999", "nonsense"])
def test_show_of_an_unknown_id_is_one_line_and_exit_2(unknown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", unknown]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    why = "no such graph break" if unknown.startswith("GB") else "is not an id"
    assert captured.err == f"{unknown}: {why}; ids look like GB0042, and `graphbreak search` finds them by words\n"


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({}, f"{PRINTED}/gb/gb0124.html"),
        ({"GRAPHBREAK_SITE": "https://copy.example/below/"}, "https://copy.example/below/gb/gb0124.html"),
    ],
)
def test_show_opens_the_page_where_links_lead(environment: dict[str, str], address: str, tmp_path: Path) -> None:
    """Where no site was built: the working tree may have one, so the folder is named."""
    code = (
        "import pathlib, sys; from repro_runner.cli import main, show; "
        "show.SITE_BUILT_HERE = pathlib.Path(sys.argv.pop()); sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "show", "124", "--open", str(tmp_path / "_site")]
    own = {**os.environ, "PYTHONPATH": str(ROOT), "BROWSER": "echo opened %s", **environment}
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [address, f"opened {address}"]


def test_show_opens_the_page_that_was_built_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "_site" / "gb" / "gb0124.html"
    page.parent.mkdir(parents=True)
    page.write_text("built", "utf-8")
    opened: list[str] = []

    def browse(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr("repro_runner.cli.show.SITE_BUILT_HERE", tmp_path / "_site")
    monkeypatch.setattr("webbrowser.open", browse)
    assert main(["show", "124", "--open"]) == 0
    assert opened == [page.as_uri()]
    assert capsys.readouterr().out == f"{page.as_uri()}\n"


def test_show_tells_where_its_program_ran_and_what_torch_said(capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", "GB0170"])
    shown = capsys.readouterr().out
    assert "run          torch 2.13.0, cpu: eager verified, inductor verified, mock verified\n" in shown
    assert "message\n  | Data-dependent branching\n" in shown
    main(["show", "GB0111"])
    assert "run          (no program can cause it: dead code. UserFunctionVariable." in capsys.readouterr().out


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.parametrize("gb_id", ["GB0101", "GB4315", "GB0007"])
def test_show_prints_a_script_that_runs_by_itself(
    gb_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", gb_id, "--script"]) == 0
    script = tmp_path / "script.py"
    script.write_text(capsys.readouterr().out, "utf-8")
    command = [sys.executable, "-I", str(script)]  # without anything of this project's
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"/gb/{gb_id.lower()}.html" in done.stdout + done.stderr
    assert done.stdout.rstrip().endswith(")")  # the fixes' tensors


def test_a_script_takes_the_programs_settings_along() -> None:
    source = '"""A lead."""\nimport torch\nCONFIG = {"x": 1}\nCOMPILE = {"dynamic": True}\ndef broken(): pass\n'
    script = standalone(parse_repro(source, "GB0001"))
    assert "setattr(torch._dynamo.config, name, value)" in script
    assert "torch.compile(broken, fullgraph=fullgraph, **COMPILE)(*inputs())" in script


def test_show_of_an_id_without_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "GB0111", "--script"]) == 2
    assert capsys.readouterr().err.startswith("GB0111: no program can cause it: dead code.")
    assert main(["show", "GB0272", "--script"]) == 2
    assert capsys.readouterr().err == "GB0272: no program yet; `graphbreak new GB0272` starts one\n"


def test_new_starts_a_repro_that_can_be_read_and_overwrites_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "GB0124.py"
    assert main(["new", "gb0124", "--out", str(out)]) == 0
    text = out.read_text("utf-8")
    assert parse_repro(text, "GB0124").fixes == {"fixed": "rewrite"}
    assert "# GB0124: Unsupported Tensor.item() call with capture_scalar_outputs=False" in text
    assert "# torch/_dynamo/variables/tensor.py:" in text
    assert main(["new", "GB0124", "--out", str(out)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert out.read_text("utf-8") == text
    assert main(["new", "GB99999"]) == 2
    assert main(["new", "GB0124", "--out", "/nowhere/GB0124.py"]) == 2
    assert capsys.readouterr().err.endswith("/nowhere/GB0124.py: No such file or directory; name another file\n")


def test_a_reader_that_has_seen_enough_gets_no_traceback() -> None:
    command = [sys.executable, "-u", "-m", "repro_runner", "status"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    complaints = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), complaints) == (1, b"")


def test_an_interrupt_while_a_verb_is_imported_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "slow_to_import.py").write_text("raise KeyboardInterrupt\n", "utf-8")
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(tmp_path)])
    monkeypatch.setitem(cli.VERBS, "slow_to_import", "")
    assert (main(["slow_to_import"]), capsys.readouterr().err) == (130, "interrupted\n")
