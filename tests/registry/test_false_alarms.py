"""What is no message about a compilation names nothing: other people's code and text, torch's own, torch's logs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.registry.test_matching import matcher
from tests.scheduling import sampled

LINES = 60
"""About what somebody pastes."""
PARTS = 36
QUOTING = frozenset({"_functional_collectives.py", "_decompositions.py", "_dynamo_utils.py"})
"""Files of torch whose comments quote a break."""
LEAST = 5_000_000
"""Characters, in all parts together."""
TRANSFORMER = """
import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
torch.compile(torch.nn.TransformerEncoder(layer, 2))(torch.randn(2, 8, 32)).sum().backward()
"""


def package(name: str) -> Path:
    """The folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def files() -> list[Path]:
    """Code and text: the standard library, NumPy, SymPy, and the parts of torch that do not quote its compiler."""
    folders = [
        Path(sysconfig.get_path("stdlib")),
        *(package(name) for name in ("rich", "jinja2", "yaml", "packaging")),
        *(package("torch") / name for name in ("nn", "distributed", "optim", "utils", "autograd", "cuda", "fx/passes")),
    ]
    left_out = {"site-packages", "test", "tests", "idlelib", "lib2to3", *QUOTING}
    found = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return [path for path in found if left_out.isdisjoint(path.parts[-4:]) and path.stat().st_size < 500_000]


def pastes(text: str) -> Iterator[str]:
    lines = text.split("\n")
    return ("\n".join(lines[at : at + LINES]) for at in range(0, len(lines), LINES))


def alarms(text: str) -> list[str]:
    """The pastes of a text in which something is found."""
    return [paste for paste in pastes(text) if matcher().name_text(paste)]


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("part", sampled(PARTS))
def test_code_and_text_of_others_name_nothing(part: int) -> None:
    chosen = files()[part::PARTS]
    read = {path: path.read_text("utf-8", "replace") for path in chosen}
    assert sum(map(len, read.values())) > LEAST / PARTS
    assert {path: found for path, text in read.items() if (found := alarms(text))} == {}


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.prove
def test_logs_of_a_compilation_without_a_break_name_nothing(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TRANSFORMER, "utf-8")
    environment = os.environ | {
        "TORCH_LOGS": "+inductor,+aot,+dynamic,output_code,aot_graphs,schedule,fusion",
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
    }
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert len(done.stderr) > 1_000_000
    assert alarms(done.stderr) == []
    assert matcher().name_text(done.stderr) == ()
