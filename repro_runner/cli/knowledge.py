"""What the verbs know: the data in the package. No torch, no network."""

from __future__ import annotations

from registry.knowledge import read_knowledge
from registry.merge import Knowledge
from registry.snapshot import read_snapshot
from repro_runner.cli.data import DATA


def read_package() -> Knowledge:
    """Everything the registry holds, with the wordings of the snapshot."""
    snapshot = read_snapshot(DATA / "snapshot")
    return read_knowledge(DATA, wordings=snapshot.wordings, origin=snapshot.origin, superseded=snapshot.superseded)
