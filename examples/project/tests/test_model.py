"""Tests that fail when a change adds a graph break."""

import pytest
import torch
from small.model import Net, loss_of


@pytest.mark.graph_breaks(max=0, recompiles=0)
def test_the_loss_is_one_graph() -> None:
    compiled = torch.compile(loss_of, backend="eager")
    assert compiled(torch.nn.Linear(8, 8), torch.ones(2, 8)) > 0


@pytest.mark.graph_breaks(allow=["GB0170 small/model.py::forward"])
def test_the_model_breaks_only_where_it_may() -> None:
    assert torch.compile(Net(), backend="eager")(torch.ones(2, 8)).shape == (2, 16)
