"""`--report OUT/`: everything that is handed over, made and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from registry.advice import Answers
from registry.model import Registry
from repro_runner.fix_report.children import Children
from repro_runner.fix_report.contents import CONFIRMED, Fixing, HandedRepro, Repros
from repro_runner.fix_report.document import handover_document
from repro_runner.fix_report.findings import Findings
from repro_runner.fix_report.folder import check_folder, encoded, write_files
from repro_runner.fix_report.registry_repros import registry_repro, torch_xla_repro

Tell = Callable[[str], None]
"""Told, in a line, what is being done now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """What was written."""

    folder: Path
    report: Path
    repros: tuple[HandedRepro, ...]
    fixing: Fixing | None


def write_handover(
    folder: Path, findings: Findings, registry: Registry, *, seconds: float = 300.0, tell: Tell = lambda _: None
) -> Handover:
    """Make the report, the repros and, of a program, the fixed one. InvalidInput if the folder is somebody else's.

    A program is run again, several times, in processes of its own, each for at most `seconds`.
    """
    from repro_runner.fix_report.rendering import render_report

    check_folder(folder)
    with Children() as children:
        repros = _all_repros(findings, registry, children, seconds, tell)
        fixing = _fixing(findings, registry, children, seconds, tell)
    files = {
        "report.md": encoded(render_report(findings, repros, fixing, registry)),
        **{one.name: encoded(one.text) for one in _flat(repros)},
    }
    if fixing and fixing.fixed:
        files[fixing.fixed.name] = fixing.fixed.text.encode(fixing.fixed.encoding, "backslashreplace")
    write_files(folder, files, handover_document(findings, repros, fixing))
    return Handover(folder=folder, report=folder / "report.md", repros=tuple(_flat(repros)), fixing=fixing)


def _all_repros(findings: Findings, registry: Registry, children: Children, seconds: float, tell: Tell) -> Repros:
    """Of the user's code where it can be; the registry's program where not all of a cause's are confirmed."""
    known = {gb.gb_id: gb for gb in registry}
    own, without = _own_repros(findings, children, seconds, tell)
    found: dict[int, tuple[HandedRepro, ...]] = {}
    for number, cause in enumerate(findings.causes):
        mine = own.get(number, ())
        enough = any(one.verdict == CONFIRMED for one in mine)
        reasons = "; ".join(dict.fromkeys(without[place.where] for place in cause.locations if place.where in without))
        others = [] if enough else [registry_repro(known.get(cause.gb_id), why=reasons)]
        if findings.torch_xla:
            others.append(torch_xla_repro(known.get(cause.gb_id)))
        found[number] = (*mine, *(one for one in others if one is not None))
    return found


def _own_repros(findings: Findings, children: Children, seconds: float, tell: Tell) -> tuple[Repros, Mapping[str, str]]:
    """What could be made of the user's code, and (where, why) nothing could be made of it."""
    if findings.program is None or not findings.causes:
        return {}, {}
    from repro_runner.fix_report.user_repros import make_own_repros

    tell("making repros of the code around the breaks: the program is run once more, without the compiler")
    made = make_own_repros(findings, children, seconds=seconds)
    return made.repros, made.without


def _fixing(findings: Findings, registry: Registry, children: Children, seconds: float, tell: Tell) -> Fixing | None:
    if findings.program is None:
        return None
    from repro_runner.fix_report.fixing import fix_program

    return fix_program(findings, findings.program, Answers(registry), children, seconds=seconds, tell=tell)


def _flat(repros: Repros) -> Iterable[HandedRepro]:
    """Each script once: causes may share the registry's."""
    return {one.name: one for each in repros.values() for one in each}.values()
