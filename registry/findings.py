"""Read `upstream_findings.yml`: where torch's own text contradicts what torch does, ready to be reported upstream.

What is silently wrong has a script in `finding_scripts/`, and beside the scripts lies what came of running them.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from registry.datafile import read_data_file, shown
from registry.errors import InvalidInput, Problem
from registry.model import Finding, FindingScript, ScriptRun
from registry.result_files import parse_environment, read_result_files
from registry.yamlfile import read_yaml

SILENTLY_WRONG = "silently wrong result"
KINDS = (
    SILENTLY_WRONG,
    "internal error instead of a break",
    "hint does not help",
    "wrong message",
    "raw Python in the text",
    "two ids for one type",
    "wording never appears",
    "other",
)
"""The gravest first, as the dashboard shows them."""
WRONG = "compiled code gives another result"
"""What the assert at the end of a script says."""
KIND = "finding scripts"
SCHEMA = 1


def read_findings(path: Path, scripts: Mapping[str, FindingScript]) -> tuple[Finding, ...]:
    """Return the findings, sorted by id; all problems at once as InvalidInput. No file: nothing was found."""
    if not path.exists():
        return ()
    entries = read_yaml(path) or []
    if not isinstance(entries, list):
        raise InvalidInput([Problem(f"{shown(path)}:1", "needs a list of {id, kind, finding, evidence}")])
    problems = [Problem(f"{shown(path)}:1", text) for entry in entries for text in _check(entry, scripts)]
    if problems:
        raise InvalidInput(problems)
    found = [
        Finding(
            gb_id=one["id"],
            kind=one["kind"],
            finding=one["finding"].strip(),
            evidence=one["evidence"].strip(),
            script=scripts.get(one.get("script", "")),
        )
        for one in entries
    ]
    return tuple(sorted(found, key=lambda one: (one.gb_id, one.kind, one.finding)))


def _check(entry: Any, scripts: Mapping[str, FindingScript]) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield f"{entry!r} is no finding; needs id, kind, finding and evidence"
        return
    name = entry.get("id") or "an entry"
    for field in ("id", "kind", "finding", "evidence"):
        if not isinstance(entry.get(field), str) or not entry[field].strip():
            yield f"{name}: needs a text `{field}`"
    if isinstance(entry.get("kind"), str) and entry["kind"] not in KINDS:
        yield f"{name}: {entry['kind']!r} is no kind; one of: {', '.join(KINDS)}"
    if entry.get("kind") == SILENTLY_WRONG and "script" not in entry:
        yield f"{name}: needs a `script` that shows it, the name of one in finding_scripts/"
    if "script" in entry and entry["script"] not in scripts:
        yield f"{name}: there is no script {entry['script']!r} in finding_scripts/"


def read_scripts(folder: Path) -> dict[str, FindingScript]:
    """Return name -> script, each with its runs; every unreadable file at once as InvalidInput."""
    runs = read_result_files(folder, KIND, SCHEMA, _parse_runs)
    scripts: dict[str, FindingScript] = {}
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.py")):
        try:
            script = _parse_script(read_data_file(path), path.stem)
        except (SyntaxError, ValueError) as error:
            problems.append(Problem(f"{shown(path)}:{getattr(error, 'lineno', None) or 1}", str(error)))
            continue
        own = (one[script.name] for one in runs if script.name in one)
        scripts[script.name] = replace(script, runs=tuple(run for run in own if run.sha256 == script.sha256))
    if problems:
        raise InvalidInput(problems)
    return scripts


def _parse_script(source: str, name: str) -> FindingScript:
    title, _, text = (ast.get_docstring(ast.parse(source)) or "").partition("\n")
    if not title or not text.strip():
        raise ValueError("needs a docstring: what is wrong, an empty line, what happens and what should")
    if WRONG not in source.rstrip().rpartition("\n")[2]:
        raise ValueError(f"needs an assert in its last line that says {WRONG!r}")
    return FindingScript(
        name=name,
        title=title.rstrip("."),
        text=" ".join(text.split()),
        source=source,
        sha256=hashlib.sha256(source.encode("utf-8")).hexdigest(),
    )


def _parse_runs(content: Mapping[str, Any], _: str) -> dict[str, ScriptRun]:
    environment = parse_environment(content["environment"])
    return {
        name: ScriptRun(
            environment=environment, sha256=record["sha256"], is_wrong=record["wrong"], printed=record["printed"]
        )
        for name, record in content["records"].items()
    }
