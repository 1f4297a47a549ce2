"""The mock accelerator with Inductor's kernels on a real GPU: Triton instead of C++.

As in test_gpu.py, `python -m pytest --noconftest -c /dev/null` runs this where nothing can be installed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from repro_runner.aot_backend import aot_mock_backend
from repro_runner.backends import graph_dumps as kept
from repro_runner.runs import list_runs

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
]


def test_a_step_of_training_equals_eager_and_leaves_triton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path))
    monkeypatch.delenv("GRAPHBREAK_ARTIFACTS", raising=False)
    monkeypatch.setattr(kept, "_own_runs", {})
    layer = torch.nn.Linear(8, 6, device="cuda")
    x = torch.randn(5, 8, device="cuda")

    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(layer(x), -1)

    answer, expected = torch.compile(program, backend=aot_mock_backend)(x), program(x)
    torch.testing.assert_close(answer, expected)
    weights = list(layer.parameters())
    gradients = torch.autograd.grad(answer.square().sum(), weights)
    torch.testing.assert_close(gradients, torch.autograd.grad(expected.square().sum(), weights))
    (run,) = list_runs(tmp_path)
    assert run.manifest()["environment"]["device"] == "cuda"
    for part in ("forward", "backward"):
        folder = run.path / "graphs/0000/inductor" / part
        assert "@triton.jit" in (folder / "output_code.py").read_text("utf-8")
        assert "SchedulerNode" in (folder / "ir_post_fusion.txt").read_text("utf-8")
