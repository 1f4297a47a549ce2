"""The pytest plugin in a small project of somebody else: a package, its tests, and nothing of this repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.torch]

NET = """
import torch


def scale(x):
    if x.sum() > 0:
        return x * 2
    return x


@torch.compile(backend="eager")
def forward(x):
    return scale(x) + 1


@torch.compile(backend="eager", dynamic=False)
def whole(x):
    return x + 1
"""
TESTS = """
import pytest
import torch

from net import forward, whole


@pytest.mark.graph_breaks
def test_none():
    forward(torch.ones(3))


@pytest.mark.graph_breaks(max=1)
def test_one():
    forward(torch.ones(3))


@pytest.mark.graph_breaks(allow=["GB0170 net/*::scale"])
def test_allowed():
    forward(torch.ones(3))


@pytest.mark.graph_breaks(recompiles=0)
def test_recompiles():
    whole(torch.ones(3))
    whole(torch.ones(4))


def test_fixture(graph_breaks):
    whole(torch.ones(3))
    graph_breaks.check()
    assert graph_breaks.ids == ()
    forward(torch.ones(3))
    assert graph_breaks.ids == ("GB0170",)
    graph_breaks.check(max=1)
    graph_breaks.check()


def test_nothing_is_asked_of():
    forward(torch.ones(3))
"""


@dataclass(frozen=True)
class Project:
    """A folder with a package and its tests."""

    folder: Path

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(dedent(text), "utf-8")

    def pytest(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--show-capture=no", *words]
        environment = os.environ | {"PYTHONPATH": str(self.folder)}
        environment.pop("PYTEST_ADDOPTS", None)
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False, timeout=240
        )


def project(folder: Path, tests: str) -> Project:
    made = Project(folder)
    made.write("pytest.ini", "[pytest]\naddopts = --strict-markers\n")
    made.write("net/__init__.py", NET)
    made.write("tests/test_net.py", tests)
    return made


def failed(output: str) -> list[str]:
    return re.findall(r"^FAILED \S+::(\w+)", output, re.MULTILINE)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str]:
    """Everything at once, with two workers."""
    made = project(tmp_path_factory.mktemp("theirs"), TESTS)
    words = ("--graph-breaks", "--graph-breaks-write-baseline=known.allow", "--junitxml=result.xml", "-n2")
    return made, made.pytest(*words).stdout


def test_a_marker_and_a_fixture_fail_the_tests_with_more_than_they_allow(whole: tuple[Project, str]) -> None:
    _, output = whole
    assert sorted(failed(output)) == ["test_fixture", "test_none", "test_recompiles"]
    assert "1 new graph break, at most 0 allowed: GB0170 net/__init__.py:6" in output
    assert (
        "1 recompile, at most 0 allowed:\n  whole (net/__init__.py:16) recompiled 1×: tensor 'x' size mismatch"
        in output
    )


def test_a_failure_says_where_what_and_what_to_do(whole: tuple[Project, str]) -> None:
    _, output = whole
    found = re.search(r"^_+ test_none _+\n(.*?)^[_=]+ ", output, re.MULTILINE | re.DOTALL)
    assert found
    told = found[1]
    for part in (
        "net/__init__.py:6 in scale\n    if x.sum() > 0:\n  GB0170: Data-dependent branching\n",
        "asks for the value of a tensor.",
        "fix: Use this when both branches are cheap.",
        "+     return torch.where(",
        "/gb/gb0170.html",
    ):
        assert part in told
    assert "pytest_plugin.py" not in told, "no traceback of ours"


def test_the_summary_has_each_site_once_with_its_tests_and_its_fix(whole: tuple[Project, str]) -> None:
    _, output = whole
    summary = re.split(r"=+ graph breaks =+\n|=+ short test summary", output)[1]  # in CI, pytest's own has it all again
    assert summary.count("net/__init__.py:6 in scale") == 1
    assert "fix: Use this when" in summary
    assert re.search(
        r"\n  in tests/test_net.py::\w+, tests/test_net.py::\w+, tests/test_net.py::\w+ and 2 more\n", summary
    )
    assert "\n1 break site in 5 of 6 tests, 1 recompile\nnote: known.allow written\n" in summary


def test_junit_has_the_breaks_as_properties(whole: tuple[Project, str]) -> None:
    made, _ = whole
    cases = ElementTree.parse(made.folder / "result.xml").iter("testcase")
    found = {case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")} for case in cases}
    assert found["test_one"] == {"graph_break": "GB0170 net/__init__.py:6 in scale", "recompiles": "0"}
    assert found["test_recompiles"] == {"recompiles": "1"}


@pytest.mark.prove
def test_a_baseline_lets_lines_move_and_fails_what_is_new(whole: tuple[Project, str], tmp_path: Path) -> None:
    made, _ = whole
    known = (made.folder / "known.allow").read_text("utf-8")
    assert known.splitlines()[-1] == "GB0170 net/__init__.py::scale x1"
    moved = project(tmp_path, TESTS)
    moved.write("known.allow", f"{known}GB0059\nGB0001\n")
    moved.write(
        "net/__init__.py", "# moved\n\n" + NET + "\n\n@torch.compile(backend='eager')\ndef new(x):\n    print(x)\n"
    )
    moved.write(
        "tests/test_net.py",
        """
        import torch

        from net import forward, new


        def test_known():
            forward(torch.ones(3))


        def test_known_by_its_id():
            new(torch.ones(3))


        def test_new():
            torch.compile(lambda x: x.tolist(), backend="eager")(torch.ones(3))
        """,
    )
    ended = moved.pytest("--graph-breaks-baseline=known.allow")
    assert failed(ended.stdout) == ["test_new"]
    assert ended.returncode == 1
    assert "known.allow:5: `GB0001` is no longer needed: remove it" in ended.stdout


FIXTURES = """
import pytest
import torch

from net import forward


@pytest.fixture
def before():
    forward(torch.ones(3))


@pytest.fixture
def after():
    yield
    forward(torch.ones(3))


@pytest.mark.graph_breaks(max=0)
def test_before(before):
    pass


@pytest.mark.graph_breaks(max=0)
def test_after(after):
    pass


@pytest.mark.graph_breaks(max=0)
def test_neither():
    pass


@pytest.mark.graph_breaks(max=1)
def test_as_many_as_it_may(before, after):
    forward(torch.ones(3))


def test_asks(before, graph_breaks):
    assert graph_breaks.ids == ("GB0170",)
"""


def test_a_break_in_a_fixture_counts_for_its_test_and_no_file_stays_open(tmp_path: Path) -> None:
    made = project(tmp_path, FIXTURES)
    output = made.pytest("--graph-breaks", "--junitxml=result.xml", "-W", "error::ResourceWarning").stdout
    assert failed(output) == ["test_before"]
    assert re.findall(r"^ERROR \S+::(\w+)", output, re.MULTILINE) == ["test_after"]
    assert output.count("1 new graph break, at most 0 allowed: GB0170") == 2
    assert "1 break site in 4 of 5 tests" in output
    found = ElementTree.parse(tmp_path / "result.xml").iter("property")
    assert [one.get("name") for one in found].count("graph_break") == 4


def test_bad_input_is_said_at_once_and_no_test_runs(tmp_path: Path) -> None:
    made = project(
        tmp_path,
        """
        import pytest


        @pytest.mark.graph_breaks(most=1, max=-1, allow="GB0124", recompiles=True)
        def test_a():
            pass


        @pytest.mark.graph_breaks(3)
        def test_b():
            pass


        @pytest.mark.graph_breaks(allow=["GB12"])
        def test_c():
            pass
        """,
    )
    ended = made.pytest()
    assert ended.returncode == 4
    lines = [
        line.removeprefix("ERROR: ")
        for line in ended.stderr.splitlines()
        if "graph_breaks" in line or "test_net" in line
    ]
    assert len(lines) == 6, lines
    made.write("known.allow", "GB12\n")
    ended = made.pytest("--graph-breaks-baseline=none.allow", "--graph-breaks-write-baseline=known.allow")
    assert ended.returncode == 4
    assert ended.stderr.strip().splitlines() == [
        "ERROR: none.allow: No such file or directory; `--graph-breaks-write-baseline none.allow` writes one",
        "--graph-breaks-write-baseline known.allow: is there already; name another file, or delete it first",
    ]
    ended = made.pytest("--graph-breaks-write-baseline=none/known.allow")
    why = "there is no such folder; make it first, or name another"
    assert (ended.returncode, ended.stderr.strip()) == (
        4,
        f"ERROR: --graph-breaks-write-baseline none/known.allow: {why}",
    )


def test_where_nobody_uses_it_torch_is_not_imported(tmp_path: Path) -> None:
    made = project(
        tmp_path, "import sys\n\n\ndef test_light():\n    assert not {'torch', 'registry'} & set(sys.modules)\n"
    )
    ended = made.pytest("-q")
    assert ended.returncode == 0, ended.stdout
    assert "graph breaks" not in ended.stdout
