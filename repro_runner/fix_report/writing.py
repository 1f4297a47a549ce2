"""Make and write a fix report: `--report OUT/`. Files in the folder that it did not write are never overwritten."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from registry.datafile import write_whole
from registry.documents import Document, document_text, head
from registry.errors import InvalidInput, Problem, WriteFailed
from registry.ids import page_address
from registry.model import Registry
from repro_runner.explain.site import Site
from repro_runner.fix_report.children import Children
from repro_runner.fix_report.findings import Cause, Findings
from repro_runner.fix_report.fixed_program import Fixing
from repro_runner.fix_report.report_text import library_sites, render_issue, render_report
from repro_runner.fix_report.repros import (
    CONFIRMED,
    CUT_LIMITS,
    OWN_TORCH_XLA,
    CutLimits,
    OwnRepros,
    Repros,
    ReproScript,
    Tell,
    make_own_repros,
    registry_repro,
    torch_xla_repro,
)

_KIND = "handover"
_MARKER = "handover.json"
"""Lists every file of the fix report with its hash. The next fix report may replace only these files."""


class FixReportDocument(Document):
    """handover.json: the contents of report.md as JSON."""

    subject: str
    environment: dict[str, str]
    facts: dict[str, str]
    remarks: list[str]
    causes: list[dict[str, Any]]
    fixed: dict[str, Any] | None
    why_no_fixed: str
    unfixed: list[dict[str, Any]]
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FixReport:
    """The fix report that was written."""

    folder: Path
    report: Path
    repros: tuple[ReproScript, ...]
    fixing: Fixing | None


def write_fix_report(
    folder: Path,
    findings: Findings,
    registry: Registry,
    *,
    fixing: Fixing | None = None,
    children: Children | None = None,
    seconds: float = 300.0,
    limits: CutLimits = CUT_LIMITS,
    tell: Tell = lambda _: None,
) -> FixReport:
    """Write the report, the fixed program that `fixing` has, and the repros.

    For the repros of a program it is run several times in `children`, each time for at most `seconds`. `limits` are for
    cutting them down. Raises InvalidInput if the folder has files that are not from an earlier fix report, and
    WriteFailed if a file can't be written.
    """
    check_folder(folder)
    repros = _all_repros(findings, registry, _own_repros(findings, children, seconds, limits, tell))
    scripts = {one.name: one for each in repros.values() for one in each}  # causes may share a registry script
    issues = library_sites(findings)
    files = {
        "report.md": _encoded(render_report(findings, repros, fixing, registry, issues)),
        **{name: _encoded(render_issue(site, findings, repros, fixing)) for name, site in issues.items()},
        **{name: _encoded(script.text) for name, script in scripts.items()},
    }
    if fixing and fixing.fixed:
        files[fixing.fixed.name] = fixing.fixed.text.encode(fixing.fixed.encoding, "backslashreplace")
    write_files(folder, files, _document(findings, repros, fixing))
    return FixReport(folder=folder, report=folder / "report.md", repros=tuple(scripts.values()), fixing=fixing)


def _all_repros(findings: Findings, registry: Registry, own: OwnRepros) -> Repros:
    """The scripts of the user's code, and the registry's program for a cause without a confirmed script."""
    known = {gb.gb_id: gb for gb in registry}
    without = own.without
    repros: dict[int, tuple[ReproScript, ...]] = {}
    for number, cause in enumerate(findings.causes):
        of_cause = own.repros.get(number, ())
        enough = any(one.verdict == CONFIRMED for one in of_cause)
        reasons = "; ".join(dict.fromkeys(without[site.where] for site in cause.sites if site.where in without))
        others = [] if enough else [registry_repro(known.get(cause.gb_id), why=reasons)]
        if findings.torch_xla and not any(one.origin == OWN_TORCH_XLA for one in of_cause):
            others.append(torch_xla_repro(known.get(cause.gb_id)))
        repros[number] = (*of_cause, *(one for one in others if one is not None))
    return repros


def _own_repros(
    findings: Findings, children: Children | None, seconds: float, limits: CutLimits, tell: Tell
) -> OwnRepros:
    if children is None or not findings.causes:
        return OwnRepros(repros={}, without={})
    tell("making repros of the code around the breaks: the program is run once more, without the compiler")
    return make_own_repros(findings, children, seconds=seconds, limits=limits, tell=tell)


def _document(findings: Findings, repros: Repros, fixing: Fixing | None) -> FixReportDocument:
    """The whole fix report without the texts of its files, which are in the same folder."""
    return {
        **head(_KIND),
        "subject": findings.subject,
        "environment": dict(findings.environment),
        "facts": dict(findings.facts),
        "remarks": list(findings.remarks),
        "causes": [_cause_document(cause, repros.get(number, ())) for number, cause in enumerate(findings.causes)],
        "fixed": _fixed_document(fixing),
        "why_no_fixed": fixing.why_none if fixing else "there was no program to fix",
        "unfixed": [asdict(one) for one in fixing.unfixed] if fixing else [],
        "runs": fixing.runs if fixing else 0,
    }


def _cause_document(cause: Cause, repros: Iterable[ReproScript]) -> dict[str, Any]:
    return {
        "gb_ids": list(cause.gb_ids),
        "gb_types": list(cause.gb_types),
        "links": [page_address(gb_id) for gb_id in cause.gb_ids],
        "kind": cause.kind,
        "count": cause.count,
        "locations": [_location(site) for site in cause.sites],
        "repros": [
            {
                "file": one.name,
                "origin": one.origin,
                "verdict": one.verdict,
                "said": one.said,
                "where": one.site.where if one.site else "",
            }
            for one in repros
        ],
    }


def _location(site: Site) -> dict[str, Any]:
    return {
        "file": site.file,
        "line": site.line,
        "function": site.function,
        "compiled": site.compiled,
        "ran": site.ran,
        "why_unknown": site.frequency.why_unknown,
        "lost_seconds": site.lost_seconds,
    }


def _fixed_document(fixing: Fixing | None) -> dict[str, Any] | None:
    if fixing is None or fixing.fixed is None:
        return None
    fixed = asdict(fixing.fixed)
    kept = ("breaks_before", "breaks_after", "outputs", "patches")
    return {"file": fixed["name"], **{name: fixed[name] for name in kept}}


def check_folder(folder: Path) -> None:
    """Raise InvalidInput, with one line per problem, if a fix report can't be written there. Call it first."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InvalidInput([Problem(str(folder), "is a file; name a folder that is new or empty")])
    if not any(folder.iterdir()):
        return
    earlier = _earlier_files(folder)
    if earlier is None:
        raise InvalidInput(
            [Problem(str(folder), "is not empty and holds no earlier handover; name a folder that is new or empty")]
        )
    if changed := [name for name, digest in earlier.items() if _is_changed(folder / name, digest)]:
        raise InvalidInput(
            [Problem(str(folder / name), "was changed since it was handed over; move it away") for name in changed]
        )


def write_files(folder: Path, files: Mapping[str, bytes], document: Mapping[str, Any]) -> None:
    """Write the files, and delete those of an earlier fix report. `document` becomes the marker, written last.

    Raises InvalidInput if another file is in the way, and WriteFailed.
    """
    check_folder(folder)
    earlier = _earlier_files(folder) or {}
    if in_the_way := [name for name in files if name not in earlier and (folder / name).exists()]:
        why = "is in the way of a file of the handover; move it away"
        raise InvalidInput([Problem(str(folder / name), why) for name in in_the_way])
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}
    marker = _encoded(document_text({**document, "files": digests}))
    try:
        for name in earlier.keys() - files.keys():
            (folder / name).unlink(missing_ok=True)
        for name, content in {**files, _MARKER: marker}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, content)
    except OSError as error:
        raise WriteFailed(f"{folder}: {error.strerror}; make room, or name another folder") from error


def _earlier_files(folder: Path) -> dict[str, str] | None:
    """The name and hash of each file of an earlier fix report; None if there is no report."""
    try:
        content = json.loads((folder / _MARKER).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    files = content.get("files") if isinstance(content, dict) and content.get("kind") == _KIND else None
    if not isinstance(files, dict):
        return None
    # A fix report never writes outside of its folder, so such a name is ignored.
    return {name: str(digest) for name, digest in files.items() if ".." not in Path(name).parts and name[:1] != "/"}


def _is_changed(path: Path, digest: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() != digest
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _encoded(text: str) -> bytes:
    """The text as UTF-8. Characters that UTF-8 can't encode are spelt out."""
    return text.encode("utf-8", "backslashreplace")
