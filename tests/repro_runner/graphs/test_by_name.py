"""Backends are found by name, in one place, whether or not this project is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from registry.errors import InvalidInput
from repro_runner.aot_backend import aot_mock_backend
from repro_runner.backends import mock_backend
from repro_runner.graphs.by_name import OWN, find_backend
from tests.conftest import ROOT

pytestmark = pytest.mark.torch


def test_an_install_registers_every_backend_of_the_project() -> None:
    pyproject = (ROOT / "pyproject.toml").read_text("utf-8")
    _, _, registered = pyproject.partition("[project.entry-points.torch_dynamo_backends]\n")
    assert registered.partition("\n\n")[0] == "\n".join(f'{name} = "{where}"' for name, where in OWN.items())


def test_a_backend_is_found_by_each_kind_of_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("def compile_it(graph, inputs):\n    return graph.forward\n")
    monkeypatch.chdir(tmp_path)
    assert find_backend("mock") is mock_backend
    assert find_backend("aot_mock") is find_backend("aot") is aot_mock_backend
    assert find_backend("eager").__name__ == "eager"
    assert find_backend("mine.py:compile_it").__name__ == "compile_it"
    assert find_backend("repro_runner.backends:mock_backend") is mock_backend


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("indctor", "indctor: no such backend; did you mean inductor?"),
        ("mocc", "mocc: no such backend; did you mean mock"),
        ("no.such.module:backend", "can't be imported: ModuleNotFoundError: No module named 'no'; name a registered"),
        ("math:pi", "math:pi: `pi` in it can't be called; name a registered backend, or `module:attribute`"),
        ("operator:no_such", "no backend `no_such` in it; name a registered backend, or `module:attribute`"),
    ],
)
def test_a_name_of_no_backend_is_refused_with_the_remedy(name: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        find_backend(name)
    assert problem in str(refused.value)


def test_the_mock_backends_are_found_where_the_project_is_not_installed() -> None:
    """And with torch and the standard library alone: the runner's children have no more."""
    program = (
        "import importlib.metadata, sys\n"
        "importlib.metadata.entry_points = lambda **_: importlib.metadata.EntryPoints()\n"
        "for name in ('yaml', 'jinja2', 'markupsafe', 'rich', 'requests', 'packaging', 'pygments'):\n"
        "    sys.modules[name] = None\n"
        "from repro_runner.graphs.by_name import find_backend\n"
        "print(find_backend('mock').__name__, find_backend('aot_mock').__name__, find_backend('eager').__name__)\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout == "mock_backend aot_mock_backend eager\n"
