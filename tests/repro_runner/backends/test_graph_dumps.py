"""What a plain torch.compile with the mock backend leaves on disk, and that it never harms the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from repro_runner.backends import (
    ArtifactsWarning,
    ConstraintViolations,
    MalformedSettings,
    graph_dumps,
    keep_artifacts,
    make_mock_backend,
    mock_backend,
)
from repro_runner.constraints import UnsupportedOpsConstraint
from repro_runner.runs import RunFolder, list_runs
from tests.checkout import on_small_disk
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::repro_runner.backends.ConstraintWarning")]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A process that has compiled nothing yet."""
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GRAPHBREAK_ARTIFACTS", raising=False)
    monkeypatch.setattr(graph_dumps, "_own_runs", {})
    monkeypatch.setattr(graph_dumps, "_gave_up", set())
    torch._dynamo.reset()
    yield tmp_path / "home"
    torch._dynamo.reset()


def program(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    torch._dynamo.graph_break()
    return (y @ y).exp()


def compile_and_run(backend: Any = mock_backend) -> None:
    """Two graphs, with a backward each, which is run."""
    torch._dynamo.reset()
    x = torch.ones(3, 3, requires_grad=True)
    answer = torch.compile(program, backend=backend)(x)
    torch.testing.assert_close(answer, program(x))
    torch.autograd.grad(answer.sum(), x)


def files(run: RunFolder) -> set[str]:
    return {str(path.relative_to(run.path)) for path in run.path.rglob("*") if path.is_file()}


GRAPH = {f"{part}.{kind}" for part in ("pre_aot", "forward", "backward") for kind in ("txt", "svg")} | {"graph.json"}


def test_a_process_leaves_one_run_with_a_folder_per_graph(home: Path) -> None:
    compile_and_run()
    compile_and_run(make_mock_backend(strict=False))
    (run,) = list_runs(home)
    graphs = {f"graphs/{index:04d}/{name}" for index in range(4) for name in GRAPH}
    assert files(run) == {"run.json", "violations.json"} | graphs
    manifest = run.manifest()
    assert (manifest["verb"], manifest["backend"]) == ("compile", "mock")
    assert manifest["subject"] == Path(sys.argv[0]).name
    assert manifest["environment"]["torch"] == torch.__version__.partition("+")[0]


def test_a_graphs_text_has_shapes_and_lines_and_its_document_has_the_numbers(home: Path) -> None:
    compile_and_run(make_mock_backend(strict=False, constraints=[UnsupportedOpsConstraint(["exp", "cos"])]))
    (run,) = list_runs(home)
    text = (run.path / "graphs/0001/forward.txt").read_text("utf-8")
    assert 'mm: "f32[3, 3][3, 1]cpu" = torch.ops.aten.mm.default' in text
    assert "return (y @ y).exp()" in text
    first, second = (run.read_json(f"graphs/{index:04d}/graph.json") for index in range(2))
    assert (first["kind"], first["schema"], first["index"], first["backend"]) == ("graph", 1, 0, "mock")
    assert [first["compile_id"], second["compile_id"]] == ["0/0", "1/0"]
    assert first["graphs"].keys() == {"pre_aot", "forward", "backward"}
    assert second["graphs"]["forward"]["ops"]["aten.mm.default"] == 1
    assert [(each["graph"], each["op"]) for each in first["violations"]] == [("backward", "aten.cos.default")]
    assert 'class="pointwise refused"' in (run.path / "graphs/0000/backward.svg").read_text("utf-8")


def test_violations_of_all_graphs_are_in_one_document(home: Path) -> None:
    compile_and_run(make_mock_backend(strict=False, constraints=[UnsupportedOpsConstraint(["exp", "cos"])]))
    (run,) = list_runs(home)
    line = program.__code__.co_firstlineno
    common = {"rule": "unsupported-op", "message": "this device has no such op", "dtype": "float32", "shape": [3, 3]}
    cos = {"op": "aten.cos.default", "graph": "backward", "node": "cos", "source": f"{__file__}:{line + 1}"}
    exp = {"op": "aten.exp.default", "graph": "forward", "node": "exp", "source": f"{__file__}:{line + 3}"}
    violations = [common | exp, common | cos]
    assert run.read_json("violations.json") == {"kind": "violations", "schema": 1, "violations": violations}


def test_a_refused_program_leaves_what_was_refused(home: Path) -> None:
    with pytest.raises(ConstraintViolations):
        compile_and_run(make_mock_backend(constraints=[UnsupportedOpsConstraint(["sin"])]))
    (run,) = list_runs(home)
    assert len(run.read_json("violations.json")["violations"]) == 1
    assert 'class="pointwise refused"' in (run.path / "graphs/0000/forward.svg").read_text("utf-8")


def test_it_can_be_turned_off(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    compile_and_run()
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "1")
    with keep_artifacts(None):
        compile_and_run()
    assert not home.exists()
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "no")
    with pytest.raises(MalformedSettings, match="GRAPHBREAK_ARTIFACTS='no': must be 0 or 1"):
        compile_and_run()


def test_a_command_chooses_the_run_whatever_the_environment_says(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    chosen = RunFolder.create("check", home=home)
    for _ in range(2):
        with keep_artifacts(chosen):
            compile_and_run()
    assert [run.id for run in list_runs(home)] == [chosen.id]
    assert sorted(path.name for path in (chosen.path / "graphs").iterdir()) == ["0000", "0001", "0002", "0003"]


# Whatever the disk does, the program goes on.


def warnings_about(trouble: Callable[[], object] = bool) -> list[str]:
    """Compile, make trouble, compile again; every warning about what is kept."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compile_and_run()
        trouble()
        compile_and_run()
    return [str(each.message) for each in caught if each.category is ArtifactsWarning]


def test_a_full_disk_is_one_warning(home: Path) -> None:
    home.mkdir()
    with on_small_disk(home, kilobytes=64):
        (warning,) = warnings_about()
        assert "No space left on device" in warning
        assert "the program goes on" in warning
        assert not list(home.rglob("*.part"))


def test_a_run_that_vanished_is_one_warning(home: Path) -> None:
    (warning,) = warnings_about(lambda: shutil.rmtree(home))
    assert str(home) in warning
    assert not home.exists()


def test_a_home_that_is_no_folder_is_one_warning(home: Path) -> None:
    home.write_text("")
    (warning,) = warnings_about()
    assert str(home) in warning
    assert home.read_text() == ""


def test_a_current_folder_that_is_gone_is_one_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.delenv("GRAPHBREAK_HOME")
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert len(warnings_about()) == 1


# Processes.

SCRIPT = """
import os, torch
from repro_runner import mock_backend
torch.compile(torch.sin, backend=mock_backend)(torch.ones(3))
child = os.fork()
torch._dynamo.reset()
torch.compile(torch.cos, backend=mock_backend)(torch.ones(3))
assert not child or os.waitpid(child, 0)[1] == 0
os._exit(0)
"""


@pytest.mark.prove
def test_processes_at_once_and_forked_children_write_runs_of_their_own(tmp_path: Path, home: Path) -> None:
    script = tmp_path / "users_script.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    both = [subprocess.Popen([sys.executable, script], env=environment, cwd=tmp_path) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    runs = list_runs(home)
    assert {run.manifest()["subject"] for run in runs} == {"users_script.py"}
    ops = [
        [op for index in range(2) if run.has(name := f"graphs/{index:04d}/graph.json") for op in forward_ops(run, name)]
        for run in runs
    ]
    assert sorted(ops, key=len) == [["aten.cos.default"]] * 2 + [["aten.sin.default", "aten.cos.default"]] * 2
    assert {path.name for path in tmp_path.iterdir()} == {"home", "users_script.py"}


def forward_ops(run: RunFolder, name: str) -> list[str]:
    return list(run.read_json(name)["graphs"]["forward"]["ops"])
