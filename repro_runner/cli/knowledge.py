"""What the verbs know: the data in the package, read once."""

from __future__ import annotations

from registry.evidence import read_captured, read_evidence
from registry.merge import Knowledge
from registry.releases import read_releases
from registry.repros import read_repros
from registry.snapshot import read_snapshot
from registry.taxonomy import read_taxonomy
from registry.unreached import read_unreached
from repro_runner.cli.data import DATA


def read_knowledge() -> Knowledge:
    """Everything the registry holds; no torch, no network."""
    snapshot = read_snapshot(DATA / "snapshot")
    return Knowledge(
        wordings=snapshot.wordings,
        origin=snapshot.origin,
        superseded=snapshot.superseded,
        releases=read_releases(DATA / "releases"),
        categories=read_taxonomy(DATA / "taxonomy.yml"),
        repros=read_repros(DATA / "repros"),
        evidence=read_evidence(DATA / "evidence"),
        captured=read_captured(DATA / "captured"),
        unreached=read_unreached(DATA / "unreached.yml"),
    )
