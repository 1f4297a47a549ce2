"""Programs that cause a message and avoid it, in `registry/message_programs/`, and what came of running them.

`recompiles.py` is about the message of that name; `GB0039-sizes.py` is about one way to hit an id.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from registry.datafile import read_data_file
from registry.errors import InvalidInput, Problem
from registry.ids import is_gb_id
from registry.matching import Match, Matcher
from registry.model import MessageProgram, MessageRun
from registry.parse_cache import ParseCache
from registry.repros import docstring_of, read_functions
from registry.result_files import parse_environment, read_result_files
from registry.snippets import parts_of

KIND = "messages"
SCHEMA = 1


def read_message_programs(folder: Path) -> dict[str, MessageProgram]:
    """Return name -> program, each with its runs; every unreadable file at once as InvalidInput."""
    programs: dict[str, MessageProgram] = {}
    problems: list[Problem] = []
    before: ParseCache[dict[str, str]] = ParseCache("messages", dump=dict, load=dict)
    runs = read_result_files(folder, KIND, SCHEMA, _parse_runs)
    for path in sorted(folder.glob("*.py")):
        source = read_data_file(path)
        own = [one[path.stem] for one in runs if path.stem in one]
        try:
            programs[path.stem] = _parse_program(source, path.stem, own, before)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            problems.append(Problem(f"registry/message_programs/{path.name}:{line}", str(error)))
    before.save()
    if problems:
        raise InvalidInput(problems)
    return programs


def _parse_program(
    source: str, name: str, runs: list[MessageRun], before: ParseCache[dict[str, str]]
) -> MessageProgram:
    module = ast.parse(source)
    functions, lead = read_functions(module, "message")
    fixes = {fix: docstring_of(node) for fix, node in functions.items() if fix.startswith("fixed")}
    if fixes and "eager" not in functions:
        raise ValueError("needs a function `eager` that returns what every `fixed` has to return")
    constants = {
        target.id: ast.literal_eval(node.value)
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in ("ENVIRONMENT", "REQUIRES")
    }
    entries = [one for one in functions if one in ("message", "eager", *fixes)]
    parts = before.recall(source, lambda: parts_of(source, entries))
    sha256 = hashlib.sha256(repr(parts).encode()).hexdigest()  # what is printed names their lines
    return MessageProgram(
        name=name,
        lead=lead,
        parts=parts,
        sha256=sha256,
        fixes=fixes,
        environment=constants.get("ENVIRONMENT", {}),
        device=constants.get("REQUIRES", {}).get("device", "cpu"),
        runs=tuple(run for run in runs if run.sha256 == sha256),
    )


def _parse_runs(content: Mapping[str, Any], _: str) -> dict[str, MessageRun]:
    environment = parse_environment(content["environment"])
    return {
        name: MessageRun(
            environment=environment,
            sha256=record["sha256"],
            printed=record["printed"],
            fixes={fix: held["silent"] and held["equal"] for fix, held in record["fixes"].items()},
        )
        for name, record in content["records"].items()
    }


def find_problems(records: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What does not hold of what was run, a line each."""
    for name, record in records.items():
        if not record["printed"]:
            yield f"{name}: the message did not come"
        for fix, held in record["fixes"].items():
            if not held["silent"]:
                yield f"{name}: {fix} does not keep the message away"
            if not held["equal"]:
                yield f"{name}: {fix} does not equal eager: {held.get('cause', '')}"


def find_own(program: MessageProgram, text: str, matcher: Matcher) -> Match | None:
    """The message that the program is about, if it is in the text."""
    subject = program.name.partition("-")[0]
    for match in (*matcher.name_text(text), *matcher.name_lines(text)):
        if match.form is not None and match.form.slug == program.name:
            return match
        if is_gb_id(subject) and subject in match.gb_ids[:1]:
            return match
    return None
