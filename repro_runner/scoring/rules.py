"""The rules of a task: what an answer may not do. The code is read, not run.

What a fix of the registry does for the same program is allowed: it was run, and people have read it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from registry.dependencies import bound_names
from registry.fix_benchmark import Task
from registry.snippets import CONSTANTS
from repro_runner.fix_report.patch_rules import find_dodges, find_refusals, find_words
from repro_runner.scoring.answers import parse_code
from repro_runner.scoring.verdicts import DODGES, NO_PYTHON, REFUSED, Judgement

_DODGES = {
    "skip": "turns compilation off",
    **dict.fromkeys(("library", "custom_op", "triton_op", "nonstrict_trace"), "hides code from Dynamo"),
}
"""What a patch of a user's own program may do, and an answer may not."""


def judge_text(task: Task, code: str, *, trust: bool) -> Judgement | None:
    """Why an answer is not run; None if it may be. `trust` runs what goes beyond plain torch code, too."""
    if parse_code(code) is None:
        return Judgement(verdict=NO_PYTHON, cause="the code is not valid Python")
    for verdict, find in ((DODGES, _dodges), (REFUSED, _refusals)):
        if verdict == REFUSED and trust:
            continue
        allowed = {reason for fix in task.fixes if fix.answers for reason in find(task, fix.code)}
        if found := [reason for reason in find(task, code) if reason not in allowed]:
            return Judgement(verdict=verdict, cause="; ".join(found))
    return None


def _refusals(task: Task, code: str) -> list[str]:
    return find_refusals(task.program.unfixed, _in_place_of_broken(task, code))


def _dodges(task: Task, code: str) -> list[str]:
    before, after = task.program.unfixed, _in_place_of_broken(task, code)
    return list(dict.fromkeys((*find_dodges(before, after), *_own_dodges(ast.parse(before), ast.parse(after), code))))


def _own_dodges(before: ast.Module, after: ast.Module, code: str) -> Iterator[str]:
    for name in sorted(_replaced(before, ast.parse(code))):
        yield f"it replaces {name}, which belongs to the program"
    for setting in sorted({*_settings(after)} - {*_settings(before)}):
        yield f"it changes a setting ({setting})"
    for word in sorted(({*find_words(after)} - {*find_words(before)}) & _DODGES.keys()):
        yield f"it {_DODGES[word]} ({word})"


def _settings(tree: ast.Module) -> Iterator[str]:
    """Yield where the settings of torch are reached, also by another name: `torch._dynamo.config`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "config":
            yield ast.unparse(node)
        elif isinstance(node, ast.alias) and node.name.rpartition(".")[2] == "config":
            yield node.name


def _replaced(before: ast.Module, answer: ast.Module) -> frozenset[str]:
    """Names of the program, and of a program's constants, that an answer makes again; imports are judged elsewhere."""
    taken = CONSTANTS.union(*map(bound_names, before.body))
    made = (node for node in answer.body if not isinstance(node, ast.Import | ast.ImportFrom))
    return taken.intersection({name for node in made for name in bound_names(node)})


def _in_place_of_broken(task: Task, code: str) -> str:
    """The program as if its author had written the answer: without `broken`, and with each import once."""
    program = [node for node in ast.parse(task.program.unfixed).body if getattr(node, "name", "") != "broken"]
    known = {ast.unparse(node) for node in program}
    added = [node for node in ast.parse(code).body if ast.unparse(node) not in known]
    return ast.unparse(ast.Module(body=[*program, *added], type_ignores=[]))
