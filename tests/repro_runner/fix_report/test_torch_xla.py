"""Programs for torch_xla. The device half of them was not run; the half that finds the user's model is run here."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path
from types import ModuleType

import pytest

from registry.knowledge import read_package
from registry.merge import merge_registry
from repro_runner.fix_report import Children, findings_of_program, write_fix_report
from repro_runner.fix_report.repros import CutLimits
from repro_runner.fix_report.torch_xla import torch_xla_script
from tests.committed import committed_breaks

PROGRAM = """
import sys
import torch


class Layer(torch.nn.Module):
    def forward(self, x, *more, scale, **named):
        x = x * scale + more[0] + named["shift"]
        if x.sum() > 0:
            x = x + 1
        return x


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), Layer()])

    def forward(self, x):
        first, second = self.layers
        return second(first(x), 1.0, scale=int(sys.argv[1]), shift=2.0)


torch.compile(Net(), backend="eager")(torch.ones(3, 4))
"""


@pytest.mark.parametrize("gb_id", ["GB0170", "GB0059", "GB0025"])
def test_a_program_in_torch_xla_form_says_that_it_was_not_run(gb_id: str) -> None:
    script = torch_xla_script(committed_breaks()[gb_id])
    assert script is not None
    assert f"# {gb_id} on a Tenstorrent device" in script
    assert "# Not run: " in script
    assert 'torch.compile(broken, backend="tt"' in script


@pytest.mark.slow
def test_every_program_of_the_corpus_has_a_torch_xla_form_that_parses() -> None:
    scripts = {gb_id: torch_xla_script(gb) for gb_id, gb in committed_breaks().items()}
    assert [gb_id for gb_id, gb in committed_breaks().items() if (gb.repro is None) != (scripts[gb_id] is None)] == []
    for gb_id, script in scripts.items():
        if script is not None:
            tree = ast.parse(script, gb_id)
            imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
            assert {"torch", "torch_xla", "torch_xla.runtime"} <= imported, gb_id


@pytest.mark.prove
@pytest.mark.torch
def test_the_submodule_around_a_break_is_taken_out_of_the_users_own_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from repro_runner.explain.program import ProgramToRun
    from repro_runner.explain.running import run_program

    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(PROGRAM, "utf-8")
    program = ProgramToRun(script="train.py", arguments=("3",))
    findings = findings_of_program(run_program(program), program, torch_xla=True)
    with Children() as children:
        limits = CutLimits(in_all=0)
        write_fix_report(Path("out"), findings, merge_registry(read_package()), children=children, limits=limits)
    (script,) = Path("out", "repros").glob("*_torch_xla.py")
    assert script.name == "GB0170_train_9_torch_xla.py"
    text = script.read_text("utf-8")
    assert "Layer (layers.1) of your own model" in text
    assert "Not run: nobody ran this form" in text
    assert "FILE = os.path.abspath('train.py')" in text
    report = Path("out", "report.md").read_text("utf-8")
    assert "[repros/GB0170_train_9_torch_xla.py](repros/GB0170_train_9_torch_xla.py) (not run)" in report
    # torch_xla is not installed, and is not needed up to here.
    monkeypatch.setitem(sys.modules, "torch_xla", ModuleType("torch_xla"))
    monkeypatch.setitem(sys.modules, "torch_xla.runtime", ModuleType("torch_xla.runtime"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", ["script"])
    submodule, arguments, keywords = runpy.run_path(str(script))["take_submodule"]()
    assert type(submodule).__name__ == "Layer"
    assert [type(one) for one in arguments] == [torch.Tensor, float]
    assert keywords == {"scale": 3, "shift": 2.0}
    assert submodule(*arguments, **keywords).shape == (3, 4)
