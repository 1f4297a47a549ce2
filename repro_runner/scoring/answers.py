"""Read a file of answers: JSONL, `{"id": "GB0170", "code": "def fixed(x): ...", "model": "..."}` on each line."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.datafile import read_data_file
from registry.errors import InvalidInput, Problem
from registry.fix_benchmark import LEFT_OUT, FixBenchmark
from repro_runner.output.suggestions import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Code that was written for a task."""

    code: str
    model: str = ""


def parse_code(code: str) -> ast.Module | None:
    """The code as a tree; None if it is not Python."""
    try:
        tree = ast.parse(code)
        compile(tree, "answer", "exec", dont_inherit=True)  # refuses what is parsed: `return` outside of a function
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # all that a text can make of the parser
        return None
    return tree


def read_answers(path: Path, benchmark: FixBenchmark) -> dict[str, Answer]:
    """Name of a task -> its answer. InvalidInput with every problem of the file at once."""
    answers: dict[str, Answer] = {}
    first: dict[str, int] = {}
    problems: list[Problem] = []
    lines = read_data_file(path).split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                content = json.loads(line)
            except (ValueError, RecursionError) as error:
                problems.append(Problem(f"{path}:{number}", f"not JSON ({error}); write one object per line"))
                continue
            wrong = list(_problems(content)) or list(_problem_of_id(content["id"], number, first, benchmark))
            problems += [Problem(f"{path}:{number}", message) for message in wrong]
            if not wrong:
                answers[content["id"]] = Answer(code=content["code"], model=content.get("model") or "")
    if not problems and not answers:
        problems.append(Problem(f"{path}:1", "has no answers; `graphbreak score --tasks` prints what to answer"))
    if problems:
        raise InvalidInput(problems)
    return answers


def _problems(content: Any) -> Iterator[str]:
    if not isinstance(content, dict):
        yield 'not an object; write {"id": "GB0170", "code": "def fixed(x): ..."}'
        return
    for field in ("id", "code"):
        if not isinstance(content.get(field), str):
            yield f"`{field}` is missing or not a text; every answer needs it"
    if not isinstance(content.get("model"), str | None):
        yield "`model` is not a text; name the model, or leave it out"
    module = parse_code(content["code"]) if isinstance(content.get("code"), str) else None
    if module is not None and not any(
        isinstance(node, ast.FunctionDef) and node.name == "fixed" for node in module.body
    ):
        yield "the code has no function named `fixed`; define one"


def _problem_of_id(name: str, number: int, first: dict[str, int], benchmark: FixBenchmark) -> Iterator[str]:
    known = [task.name for task in benchmark.tasks]
    reason = next((reason for reason, names in benchmark.left_out.items() if name in names), "")
    if reason:
        yield f"{name} is not a task; leave it out. {LEFT_OUT[reason]}"
    elif name not in known:
        yield f"{name}: no such task{did_you_mean(name, known)}; `graphbreak score --tasks` prints all"
    elif name in first:
        yield f"{name} is answered in line {first[name]} already; keep one of the two"
    first.setdefault(name, number)
