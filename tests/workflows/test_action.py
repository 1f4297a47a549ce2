"""The composite action and the pre-commit hook, run as GitHub and pre-commit run them, in a project of their own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.checkout import ROOT, copy_sources

ACTION = ROOT / ".github" / "actions" / "graphbreak"
A_BREAK = "        print(x.shape)\n        return x\n"


def read_action() -> dict[str, Any]:
    return dict(yaml.safe_load((ACTION / "action.yml").read_text("utf-8")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A copy of the example project, on a machine of its own: a checkout of the action, and a Python with torch."""

    folder: Path
    action: Path
    python: Path
    temporary: Path

    def take_step(self, number: int, **given: str) -> subprocess.CompletedProcess[str]:
        """Run a step of the action in bash, as GitHub's runner does, with its inputs and files."""
        action = read_action()
        inputs = {name: one.get("default", "") for name, one in action["inputs"].items()}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        step = action["runs"]["steps"][number]
        own = {name: self._filled(text, inputs) for name, text in step.get("env", {}).items()}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder / self._filled(step.get("working-directory", "."), inputs),
            env={**self._environment(), **own},
            capture_output=True,
            text=True,
            check=False,
        )

    def _environment(self) -> dict[str, str]:
        """That of a runner."""
        return {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "PATH": f"{self.python.parent}:{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(self.action),
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_OUTPUT": str(self.temporary / "output"),
            "GITHUB_STEP_SUMMARY": str(self.temporary / "summary.md"),
        }

    @staticmethod
    def _filled(text: str, inputs: Mapping[str, str]) -> str:
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)

    def outputs(self) -> dict[str, str]:
        """The outputs of the action, from what its step wrote."""
        written = dict(line.split("=", 1) for line in (self.temporary / "output").read_text("utf-8").splitlines())
        declared = {name: one["value"] for name, one in read_action()["outputs"].items()}
        return {
            name: written[value.removeprefix("${{ steps.explain.outputs.").removesuffix(" }}")]
            for name, value in declared.items()
        }


def add_a_break(project: Path) -> None:
    model = project / "small" / "model.py"
    model.write_text(model.read_text("utf-8").replace("        return x\n", A_BREAK), "utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """After the first step, which installs the package from the action's checkout."""
    home = tmp_path_factory.mktemp("action")
    copy_sources(home / "actions")
    shutil.copytree(ROOT / "examples" / "project", home / "repository")
    (home / "temporary").mkdir()
    made = Project(
        folder=home / "repository",
        action=home / "actions" / ACTION.relative_to(ROOT),
        python=make_python(home / "python"),
        temporary=home / "temporary",
    )
    done = made.take_step(0)
    assert done.returncode == 0, done.stderr
    return made


def make_python(folder: Path) -> Path:
    """An environment that finds what is installed here, except this package: its editable install is not followed."""
    venv.create(folder, with_pip=False)
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "here.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return folder / "bin" / "python"


def test_the_action_fits_githubs_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions"]
    done = subprocess.run([*command, str(ACTION / "action.yml")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_inputs_reach_the_shell_as_variables_only() -> None:
    assert [step for step in read_action()["runs"]["steps"] if "${{" in step["run"]] == []


@pytest.mark.prove
@pytest.mark.index
@pytest.mark.torch
def test_a_break_that_is_not_allowed_fails_the_job_and_everything_is_written_in_one_run(project: Project) -> None:
    add_a_break(project.folder)
    done = project.take_step(1, script="train.py", allow="breaks.allow")
    assert done.returncode == 1, done.stderr
    errors = [line for line in done.stdout.splitlines() if line.startswith("::error ")]
    assert len(errors) == 1
    assert errors[0].startswith("::error file=small/model.py,line=19,title=GB0059%3A ")
    outputs = project.outputs()
    assert outputs["breaks"] == "2"
    assert json.loads(Path(outputs["badge"]).read_text("utf-8"))["message"] == "1, 1 allowed"
    (run,) = json.loads(Path(outputs["sarif"]).read_text("utf-8"))["runs"]
    assert sorted(one["level"] for one in run["results"]) == ["error", "note"]
    assert "small/model.py:19" in (project.temporary / "summary.md").read_text("utf-8")


@pytest.mark.prove
@pytest.mark.index
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"script": "train.py", "module": "small.model"}, "::error::script and module are both given; leave one out"),
        ({"script": "missing.py"}, "missing.py: no such script; name a Python file, or a module with -m"),
        ({}, "name a script, or -m and a module"),
        ({"script": "train.py", "allow": "none.allow"}, "none.allow"),
        ({"script": "train.py", "options": "--compile=nothing"}, "--compile nothing: write a module and a function"),
    ],
    ids=["both", "missing", "neither", "no list", "options"],
)
def test_a_wrong_input_is_refused_in_one_line(project: Project, given: dict[str, str], said: str) -> None:
    done = project.take_step(1, **given)
    assert done.returncode == 2
    assert said in done.stdout + done.stderr


@pytest.mark.prove
@pytest.mark.index
@pytest.mark.torch
def test_the_example_project_passes_with_the_action_and_with_pytest(tmp_path: Path, project: Project) -> None:
    shutil.copytree(ROOT / "examples" / "project", tmp_path / "project")
    own = replace(project, folder=tmp_path / "project")
    done = own.take_step(1, module="train", arguments="--no such\n--option", allow="breaks.allow")
    assert (done.returncode, "::error" in done.stdout) == (0, False), done.stdout + done.stderr
    command = [str(project.python), "-m", "pytest", "-q", "--graph-breaks-baseline", "breaks.allow"]
    tests = subprocess.run(command, cwd=own.folder, capture_output=True, text=True, check=False)
    assert tests.returncode == 0, tests.stdout


def test_pre_commit_can_read_the_hook() -> None:
    manifest = str(ROOT / ".pre-commit-hooks.yaml")
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", manifest], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.prove
@pytest.mark.torch
def test_the_hook_passes_until_somebody_adds_a_break(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(tmp_path / "hooks"),
    }

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        cwd = copy if copy.exists() else tmp_path
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)

    copy = tmp_path / "project"
    done = run(str(ROOT / ".github" / "scripts" / "pre_commit.sh"), str(copy))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 break site" in done.stdout  # it ran, and the file allows what it found
    add_a_break(copy)
    again = run("pre-commit", "run", "--all-files")
    assert again.returncode == 1
    assert "exit code 1: 1 break is not allowed: GB0059 at small/model.py:19" in again.stdout
