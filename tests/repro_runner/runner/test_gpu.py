"""The same engine on a real GPU. Skipped, by name, where there is none; these are the only tests that may be.

They need pytest, torch and nothing else of the project's: `python -m pytest --noconftest -c /dev/null` runs them on a
machine where nothing can be installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from repro_runner.backends import ConstraintViolations, make_mock_backend, mock_backend
from repro_runner.capture import capture_breaks
from repro_runner.constraints import MemoryConstraint
from repro_runner.runner.machine import ReproRun, ThisMachine

ROOT = Path(__file__).resolve().parents[3]
IDS = ("GB0014", "GB0066", "GB0101", "GB0109", "GB0186", "GB0216", "GB0361")

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("evidence") / "cuda.json"
    command = [sys.executable, "-m", "repro_runner", "run", *IDS, "--device", "cuda", "--backend", "all"]
    subprocess.run([*command, "--out", str(out)], cwd=ROOT, check=True)
    return dict(json.loads(out.read_text("utf-8")))


def test_the_header_names_the_gpu(evidence: dict[str, Any]) -> None:
    assert evidence["environment"]["device"] == "cuda"
    assert evidence["environment"]["device_name"] == torch.cuda.get_device_name()


@pytest.mark.parametrize("backend", ["eager", "inductor", "mock"])
def test_every_program_breaks_and_is_fixed_as_on_the_cpu(evidence: dict[str, Any], backend: str) -> None:
    runs = {gb_id: record["runs"][backend] for gb_id, record in evidence["records"].items()}
    assert {gb_id: run["verdict"] for gb_id, run in runs.items()} == dict.fromkeys(IDS, "verified")


SOURCE = """
import torch

weight = torch.ones(8)


def inputs():
    return (torch.randn(8),)


def broken(x):
    assert x.is_cuda and weight.is_cuda
    torch._dynamo.graph_break()
    return x * weight


def fixed(x):
    assert x.is_cuda
    return x * weight
"""


def test_inputs_and_constants_are_on_the_gpu() -> None:
    (ended,) = ThisMachine("cuda").run([ReproRun(program="GB0025", source=SOURCE, device="cuda")])
    assert ended.record["verdict"] == "verified", ended


def test_a_program_for_the_cpu_sees_no_gpu() -> None:
    source = SOURCE.replace("assert x.is_cuda and weight.is_cuda", "assert not torch.cuda.is_available()")
    source = source.replace("assert x.is_cuda", "pass")
    (ended,) = ThisMachine("cpu").run([ReproRun(program="GB0025", source=source)])
    assert ended.record["verdict"] == "verified", ended


def test_capture_names_a_break_in_this_process() -> None:
    @torch.compile(backend="inductor")
    def branch(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum() > 0 else x - 1

    with capture_breaks() as breaks:
        found = branch(torch.ones(8, device="cuda"))
    assert [one.gb_id for one in breaks] == ["GB0170"]
    torch.testing.assert_close(found, torch.full((8,), 2.0, device="cuda"))


def test_the_mock_accelerator_takes_tensors_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    torch._dynamo.reset()
    x = torch.ones(1024, device="cuda")
    torch.testing.assert_close(torch.compile(lambda x: x * 2, backend=mock_backend)(x), x * 2)
    small = make_mock_backend(strict=True, constraints=[MemoryConstraint(64)])
    with pytest.raises(ConstraintViolations):
        torch.compile(lambda x: x * 3, backend=small)(x)
