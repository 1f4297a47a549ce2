"""Decomposition tables by name: which ops a backend wants broken into which others before it sees a graph."""

from __future__ import annotations

import torch

from repro_runner.graphs.traced import Decompositions

NAMES = ("none", "core-aten", "inductor")


def decomposition_table(name: str) -> Decompositions:
    """`none`: as AOTAutograd leaves it; `core-aten`: torch.export's; `inductor`: those that Inductor asks for."""
    if name == "none":
        return {}
    if name == "core-aten":
        table: Decompositions = torch.export.default_decompositions().materialize()
        return table
    if name == "inductor":
        from torch._inductor.decomposition import select_decomp_table

        return dict(select_decomp_table())
    raise ValueError(f"{name}: no such decomposition table; there are {', '.join(NAMES)}")
