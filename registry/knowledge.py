"""Read everything that lies beside a registry: releases, taxonomy, repros, evidence, exemptions, findings, figures."""

from __future__ import annotations

from pathlib import Path

from registry.aliases import read_aliases
from registry.captured import read_captured
from registry.datafile import DATA
from registry.evidence import read_evidence
from registry.findings import read_findings, read_scripts
from registry.fits import read_fits
from registry.forms import read_forms, read_other_messages
from registry.glossary import read_glossary
from registry.lessons import read_lessons, read_notebooks
from registry.measurements import read_measurements
from registry.merge import Knowledge
from registry.message_programs import read_message_programs
from registry.model import Origin, Wordings
from registry.releases import read_releases
from registry.repros import read_repros
from registry.snapshot import read_snapshot
from registry.taxonomy import read_taxonomy
from registry.troubleshooting import read_topics
from registry.unreached import read_unreached


def read_package() -> Knowledge:
    """Everything that the package holds, with the wordings of its snapshot; no network."""
    snapshot = read_snapshot(DATA / "snapshot")
    return read_knowledge(DATA, wordings=snapshot.wordings, origin=snapshot.origin, superseded=snapshot.superseded)


def read_knowledge(data: Path, *, wordings: Wordings, origin: Origin, superseded: Wordings) -> Knowledge:
    """Put the wordings that are to be shown together with the data under `data`, the folder registry/."""
    other_messages = read_other_messages(data / "other_messages")
    return Knowledge(
        wordings=wordings,
        origin=origin,
        superseded=superseded,
        releases=read_releases(data / "releases"),
        categories=read_taxonomy(data / "taxonomy.yml"),
        repros=read_repros(data / "repros"),
        evidence=read_evidence(data / "evidence"),
        captured=read_captured(data / "captured"),
        unreached=read_unreached(data / "unreached.yml"),
        findings=read_findings(data / "upstream_findings.yml", read_scripts(data / "finding_scripts")),
        measurements=read_measurements(data / "measurements"),
        other_messages=other_messages,
        forms=read_forms(data, other_messages),
        message_programs=read_message_programs(data / "message_programs"),
        topics=read_topics(data / "troubleshooting.yml", other_messages),
        lessons=read_lessons(data.parent / "examples", data / "lessons"),
        notebooks=read_notebooks(data.parent / "notebooks"),
        fits=read_fits(data / "fits.yml"),
        glossary=read_glossary(data / "glossary.yml"),
        aliases=read_aliases(data / "aliases.yml"),
    )
