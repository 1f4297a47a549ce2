"""The skill: every command in it is one that we have, and following it leads from a script to verified fixes."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from repro_runner.agents.server import Tools
from repro_runner.cli import VERBS, main
from repro_runner.logs.tt_xla.part import BUILD, CHECK_BUILD, COMMAND
from tests.checkout import ROOT

SKILL = ROOT / "skills" / "graph-break-analysis" / "SKILL.md"
TEXT = SKILL.read_text("utf-8")
FIX = """\
--- a/steps.py
+++ b/steps.py
@@ -4,4 +4,3 @@
 def step(x):
-    if x.sum() > 0:
-        x = x + 1
+    x = torch.where(x.sum() > 0, x + 1, x)
     return x * 2
"""
MODULE = """\
import torch


def step(x):
    if x.sum() > 0:
        x = x + 1
    return x * 2
"""
PROGRAM = """\
import torch
from steps import step

torch.manual_seed(0)
print(torch.compile(step, backend="eager")(torch.ones(3)))
"""


def commands() -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


def own_commands() -> Iterator[list[str]]:
    """The words of each `graphbreak` command, those inside sentences included."""
    spoken = re.findall(r"`(graphbreak [^`]+)`", TEXT)
    for line in [*commands(), *spoken]:
        words = shlex.split(line)
        if words[0] == "graphbreak":
            yield words[1:]


def test_it_says_what_it_is_for_and_which_tools_it_needs() -> None:
    head = yaml.safe_load(TEXT.split("---\n")[1])
    assert head.keys() == {"name", "description", "allowed-tools"}
    assert head["name"] == SKILL.parent.name
    assert len(head["description"]) < 1024
    allowed = re.findall(r"Bash\((\w+) \*\)", head["allowed-tools"])
    programs = {next(word for word in shlex.split(line) if "=" not in word) for line in commands()}
    assert programs <= set(allowed)


@pytest.mark.parametrize("words", [*own_commands()], ids=" ".join)
def test_every_command_and_option_in_it_exists(words: list[str]) -> None:
    verb, *rest = words
    assert verb in VERBS
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main([verb, "--help"])
    assert [word for word in rest if word.startswith("--") and word not in said.getvalue()] == []


def test_it_has_the_commands_of_the_log_readers_fitness_check() -> None:
    for command in (COMMAND.replace("script.py", "SCRIPT").replace("script.log", "LOG"), CHECK_BUILD, BUILD):
        assert command in commands()


def test_it_names_every_tool_of_the_server() -> None:
    tools = [name for name in vars(Tools) if not name.startswith("_")]
    assert [tool for tool in tools if f"`{tool}`" not in TEXT] == []


@pytest.mark.prove
@pytest.mark.torch
def test_followed_step_by_step_it_ends_with_a_verified_fix(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "steps.py").write_text(MODULE, "utf-8")
    (tmp_path / "fix.diff").write_text(FIX, "utf-8")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    names = {"SCRIPT": "train.py", "LOG": "train.log", "ID": "GB0170", "<script>": "train"}
    for line in commands():
        if "cmake" in line.lower():  # builds tt-xla
            continue
        if line == "graphbreak log LOG":  # the user brings the first log
            (tmp_path / "train.log").write_text("Graph break in user code at steps.py:5\n", "utf-8")
        words = line.replace("WORDS OF THE MESSAGE", "branch")
        command = re.sub(r"\b(SCRIPT|LOG|ID)\b|<script>", lambda found: names[found[0]], words)
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        if "--try" in command:
            assert "verified" in done.stdout
    assert "1 break before, 0 after" in (tmp_path / "out" / "report.md").read_text("utf-8")
    assert list((tmp_path / "out" / "repros").glob("GB0170_steps_5.py"))
