"""`graphbreak explain` on real programs: what it prints, keeps and answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import torch

from repro_runner.cli import main as graphbreak
from repro_runner.explain import explain
from repro_runner.explain.document import report_from_document
from tests.conftest import ROOT
from tests.repro_runner.fixtures import FIXTURES

pytestmark = pytest.mark.torch

_BREAKS, _, _ = (FIXTURES / "programs" / "seven.py").read_text("utf-8").partition('\n\nif __name__ == "__main__":')
SEVEN = f"""{_BREAKS}

import atexit, ctypes, os, subprocess

print("arguments", sys.argv[1:])
os.write(1, b"raw\\n")
ctypes.CDLL(None).printf(b"from C\\n")
subprocess.run(["echo", "from a child"], check=True)
atexit.register(print, "at the end")
os.chdir("/")
sys.stdout = open(os.devnull, "w")
torch.compile(model, backend="eager")(torch.ones(4))
"""
PRINTED = ["arguments ['--format', 'md', '--', '--help']", "raw", "from C", "from a child", "at the end"]
FULLGRAPH = """
import torch

@torch.compile(backend="eager", fullgraph=True)
def f(x):
    torch._dynamo.graph_break()
    print("between")
    return x + 1

f(torch.ones(3))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    code: int
    out: str
    err: str
    home: Path

    @property
    def document(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.out)
        return content


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """The seven sites in a process of their own, with everything that can be asked for at once."""
    home = tmp_path_factory.mktemp("seven")
    (home / "seven.py").write_text(SEVEN, "utf-8")
    (home / "some.allow").write_text("GB0025\nGB0170 seven.py x1\nGB0555\n", "utf-8")
    options = "--format json --save run.json --fail-on-break --allow some.allow --write-allow all.allow"
    command = [sys.executable, "-m", "repro_runner", "explain", *options.split(), "seven.py"]
    done = subprocess.run(
        [*command, "--format", "md", "--", "--help"],
        cwd=home,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "GRAPHBREAK_ARTIFACTS": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr, home=home)


def test_all_seven_sites_are_in_the_document_with_both_ids_of_the_nested_ones(seven: Ended) -> None:
    found = {site["function"]: site["gb_ids"] for site in seven.document["sites"]}
    assert found == {
        "scale": ["GB0059"],
        "choose": ["GB0170"],
        "shift": ["GB0124"],
        "stamp": ["GB0007"],
        "explicit": ["GB0025"],
        "repeated": ["GB0025", "GB7000"],
        "guarded": ["GB0025", "GB0066"],
    }


def test_the_document_satisfies_its_schema_and_is_alone_on_standard_output(seven: Ended) -> None:
    schema = json.loads((ROOT / "repro_runner/explain/explain.schema.json").read_bytes())
    jsonschema.Draft202012Validator(schema).validate(seven.document)
    assert sorted(line for line in seven.err.splitlines() if line in PRINTED) == sorted(PRINTED)
    assert seven.document["program"]["arguments"] == ["--format", "md", "--", "--help"]


def test_every_site_says_where_how_often_and_what_to_do(seven: Ended) -> None:
    lines = SEVEN.splitlines()
    for site in seven.document["sites"]:
        assert site["file"] == str(seven.home / "seven.py")
        assert lines[site["line"] - 1].strip() == site["source"].strip()
        assert site["compiled"] >= 1
        assert site["ran"] == 1 or (site["ran"] is None and site["why_unknown"])
        answer = site["answers"][0]
        assert answer["fixes"] or answer["counsels"]  # a fix that is for this very code, else what to try
        assert site["links"][0].endswith(f"/gb/{site['gb_ids'][0].lower()}.html")


def test_breaks_that_are_not_allowed_make_the_exit_code_and_are_named(seven: Ended) -> None:
    assert seven.code == 1
    told = [line for line in seven.err.splitlines() if line.startswith("exit code")]
    assert len(told) == 1
    assert told[0].startswith("exit code 1: 3 breaks are not allowed: GB0")
    assert {site["function"] for site in seven.document["sites"] if not site["allowed"]} == {"scale", "shift", "stamp"}
    assert seven.document["allow_list"]["unused"] == [{"entry": "GB0555", "origin": "some.allow:3"}]


def test_what_is_saved_is_the_document_again(seven: Ended) -> None:
    saved = json.loads((seven.home / "run.json").read_text("utf-8"))
    assert saved == seven.document
    assert len(report_from_document(saved)) == 7


def test_the_present_state_is_written_as_an_allow_list(seven: Ended) -> None:
    entries = [line for line in (seven.home / "all.allow").read_text("utf-8").splitlines() if line[:1] != "#"]
    sites = Counter((one["gb_ids"][0], one["function"]) for one in seven.document["sites"])
    assert entries == [f"{gb_id} ./seven.py::{name} x{count}" for (gb_id, name), count in sorted(sites.items())]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    torch._dynamo.reset()
    yield tmp_path
    torch._dynamo.reset()


def run(home: Path, capfd: pytest.CaptureFixture[str], source: str, *options: str) -> Ended:
    """In this process: a terminal's report leaves standard output as it was."""
    (home / "train.py").write_text(source, "utf-8")
    code = graphbreak(["explain", *options, "train.py"])
    out, err = capfd.readouterr()
    return Ended(code=code, out=out, err=err, home=home)


PLAIN = "import torch\n\n\ndef step(x):\n    return x + x.sum().item()\n\n\nstep(torch.ones(3))\nprint('done')\n"


def test_a_program_that_compiles_nothing_is_told_how_to(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ended = run(home, capfd, PLAIN, "--fail-on-break")
    assert ended.code == 0
    assert ended.out.startswith("done\n")
    assert "torch.compile was never reached" in ended.out
    assert "--compile MODULE:FUNC" in ended.out


def test_options_that_stand_behind_the_program_are_the_programs_and_that_is_told(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / "train.py").write_text("import sys\nprint(sys.argv[1:])\n", "utf-8")
    assert graphbreak(["explain", "train.py", "--fail-under=90", "--epochs", "1", "--cost"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("['--fail-under=90', '--epochs', '1', '--cost']\n")
    assert err == "note: --fail-under=90, --cost went to train.py; explain's own options stand before it\n"


def test_a_function_is_compiled_on_request_and_fails_the_check(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ended = run(home, capfd, PLAIN, "--compile", "train.py:step", "--fail-on-break")
    assert ended.code == 1
    assert "GB0124 resumed  train.py:5 in step\n" in ended.out
    assert " 4 | def step(x):\n 5 |     return x + x.sum().item()\n   |                ^^^^^^^^^^^^^^\n" in ended.out
    assert ended.err.splitlines()[-1] == "exit code 1: 1 break is not allowed: GB0124 at train.py:5"


def test_a_whole_graph_is_said_to_be_one(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ended = run(home, capfd, PLAIN.replace(".item()", ""), "--compile", "train.py:step", "--fail-on-break")
    assert ended.code == 0
    assert "no graph breaks: 1 graph from 1 frame" in ended.out


def test_a_program_that_fails_is_reported_up_to_there(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = f"{PLAIN}raise ValueError('half-way')\n"
    ended = run(home, capfd, source, "--compile", "train.py:step", "--format", "md", "--out", "breaks.md")
    assert ended.code == 1
    assert "GB0124" in (home / "breaks.md").read_text("utf-8")
    assert ended.out == "done\n"
    assert "breaks.md written" in ended.err
    assert ended.err.splitlines()[-1].startswith("exit code 1: train.py ended with ValueError: half-way;")


def test_breaks_behind_a_fullgraph_error_are_listed_on_request(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ended = run(home, capfd, FULLGRAPH)
    assert (ended.code, ended.out.count(" fatal  train.py:")) == (1, 1)
    assert "--no-fullgraph" in ended.out
    torch._dynamo.reset()
    ended = run(home, capfd, FULLGRAPH, "--no-fullgraph", "--summary")
    assert ended.code == 0
    assert "1 of 2 breaks is about skipped functions and compiler controls:\n" in ended.out
    assert "2 break sites" in ended.out


def test_a_module_is_run_as_python_would(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (home / "trainer").mkdir()
    (home / "trainer" / "__main__.py").write_text("import sys\nprint(sys.argv[1:], __name__)\nsys.exit(3)\n", "utf-8")
    assert graphbreak(["explain", "-m", "trainer", "--help"]) == 1
    out, err = capfd.readouterr()
    assert out.startswith("['--help'] __main__\n")
    assert err.splitlines()[-1].startswith("exit code 1: trainer ended with exit code 3;")


LEAVING = """
import os, sys, torch

@torch.compile(backend="eager")
def f(x):
    torch._dynamo.graph_break()
    return x + 1

f(torch.ones(3))
if os.fork() == 0:
    print("a child", flush=True)
    sys.exit(3)
print("which ended with", os.waitstatus_to_exitcode(os.wait()[1]))
sys.stdout.close()
os._exit(5)
"""


@pytest.mark.prove
def test_a_program_that_closes_its_output_and_leaves_at_once_is_reported_and_its_child_is_not(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LEAVING, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "repro_runner", "explain", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GRAPHBREAK_ARTIFACTS": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("a child\nwhich ended with 3\ngraph breaks of train.py (")
    assert done.stdout.count("graph breaks of ") == 1
    assert "compiled 1×, ran 1×" in done.stdout
    assert done.stderr.splitlines()[-1] == ("exit code 1: train.py ended with exit code 5; the report goes up to there")
    assert "Traceback" not in done.stderr
    assert done.returncode == 1


STRICT_ABOUT_FILES = """
import subprocess, sys, warnings
warnings.simplefilter("error")
import torch
torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))
subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
sys.stdout.close()
"""


def test_no_file_stays_open_and_a_child_starts_without_an_error(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(STRICT_ABOUT_FILES, "utf-8")
    command = [sys.executable, "-m", "repro_runner", "explain", "program.py"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "from a child" in ended.stdout
    assert ended.stderr == ""


def test_a_notebook_shows_a_report_as_a_table_and_python_as_text() -> None:
    torch._dynamo.reset()

    @torch.compile(backend="eager")
    def step(x: torch.Tensor) -> torch.Tensor:
        return x + x.sum().item()

    with explain() as report:
        step(torch.ones(3))
    shown = report._repr_mimebundle_(include=None, exclude=None)
    assert shown["text/plain"] == repr(report)
    assert "GB0124  resumed  tests/repro_runner/cli/test_explain_command.py:" in shown["text/plain"].replace(
        f"{ROOT}/", ""
    )
    assert "<code>return x + x.sum().item()</code>" in shown["text/html"]
    assert "def step(x: torch.Tensor)" in report.text(width=100)


WHOLE = PLAIN.replace(".item()", "").replace("step(torch", "step = torch.compile(step, backend='eager')\nstep(torch")


def test_what_torch_reports_and_the_list_does_not_have_is_told_loudly(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = "logging.getLogger('torch._dynamo.symbolic_convert.__graph_breaks')"
    missed = f"{WHOLE}import logging\n{log}.debug('Graph break in user code at train.py:99\\nGraph Break Reason: x')\n"
    ended = run(home, capfd, missed)
    assert "note: WRONG: torch reports 1 break that this list does not have, at train.py:99." in ended.out
    assert "no graph breaks" not in ended.out
    ended = run(home, capfd, missed, "--fail-on-break")
    assert ended.code == 1
    assert ended.err.splitlines()[-1].startswith("exit code 1: WRONG: torch reports 1 break")


def test_a_program_that_sets_up_the_log_itself_is_told_that_nothing_was_compared(
    home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ended = run(home, capfd, f"{WHOLE}torch._logging.set_logs()\n", "--fail-on-break")
    assert ended.code == 0
    assert "could not be compared with them" in " ".join(ended.out.split())
    assert "could not be compared" not in run(home, capfd, WHOLE).out


def test_an_error_of_the_user_is_a_site_with_its_page(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = PLAIN.replace("return x + x.sum().item()", "return x + len([1] * x.sum().long().item())")
    source = source.replace("step(torch", "torch._dynamo.config.capture_scalar_outputs = True\nstep(torch")
    ended = run(home, capfd, source, "--compile", "train.py:step", "--fail-on-break")
    assert ended.code == 1
    assert "data-dependent-guard frame skipped  train.py:5 in step\n" in ended.out
    assert "/messages/data-dependent-guard.html" in "".join(ended.out.split())
