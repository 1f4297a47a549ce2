"""The fix benchmark: programs of the registry that break the graph, as tasks for a language model or an agent.

A task shows a program and the message that torch printed, and asks for a function `fixed`. Tasks are made of programs
whose fix was run: `graphbreak score` checks an answer in the same way. A model gets the prompt and nothing else.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from registry.model import FRESH_SEEDS, SEEDS, Evidence, Example, GraphBreak, Registry
from registry.repros import by_fix
from registry.snippets import Program, Snippet, take_apart
from registry.taxonomy import UNCATEGORISED
from registry.versions import version_key

VERSION = 1
TASK = (
    "Write a function `fixed`. It takes the same arguments as `broken`, returns the same, has the same effects, and "
    "prints the same. torch.compile(fixed, fullgraph=True) must compile it as one graph, and gradients must be the "
    "same. Your code is added to the end of the program: use its names, and give your own helpers new names. Do not "
    "change settings of torch, do not turn compilation off, and do not hide code in a custom operator."
)
LEFT_OUT = {
    "eager": "The program raises an error without torch.compile, too. There is no result to compare with.",
    "none": "There is no fix, or none that holds on a CPU.",
    "coverage": "The inputs don't run every line of the program, or its result is the same for all inputs. "
    "An answer that does less would pass.",
    "bytecode": "What breaks is edited bytecode or an edited torch. The source does not show it, so a copy would pass.",
    "caller": "The fix moves code to the caller, which is not compiled.",
    "setting": "Every fix that holds is a setting of torch, not code.",
    "operator": "The fixes that hold hide code in a custom operator, or change a setting of torch.",
    "effects": "The fix has other side effects than the program, or does not do the same for all inputs.",
    "shown": "The program has a method that only the fix needs: it would show the answer.",
}
"""Why a program is no task."""
_CALLER = re.compile(r"\bskip\b")
"""`@skip` stands for a caller that is not compiled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldFix:
    """A fix of the registry that held on a CPU."""

    name: str
    kind: str
    when: str
    code: str
    """An answer to the task: what is added to the program, with a function `fixed`."""
    settings: str
    """For a fix by a flag: the lines that set it."""
    answers: bool
    """Whether it keeps to the rules of the task."""
    verified_on: tuple[str, ...]
    """Releases of torch, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A program that breaks the graph, and what is known of its fixes."""

    name: str
    gb_id: str
    gb_type: str
    category: str
    """Its title."""
    torch: str
    """The release that printed the message."""
    message: str
    program: Program
    repro_sha256: str
    gradients: str
    """`equal` if gradients are compared, or why they are not."""
    fixes: tuple[HeldFix, ...]

    @property
    def releases(self) -> tuple[str, ...]:
        """Releases of torch on which an answer can be checked, oldest first: a fix holds there."""
        return tuple(dict.fromkeys(torch for fix in self.fixes if fix.answers for torch in fix.verified_on))

    @property
    def source(self) -> str:
        """The module that is run: the program, and the settings that it needs."""
        return "\n\n".join(part for part in (self.program.unfixed, self.program.constants) if part) + "\n"

    @property
    def prompt(self) -> dict[str, Any]:
        """The prompt: what a model gets, and nothing else."""
        return {
            "gb_id": self.gb_id,
            "gb_type": self.gb_type,
            "torch": self.torch,
            "message": self.message,
            "program": f"{self.program.unfixed}\n",
            "settings": list(self.program.config),
            "compile": self.program.compile_options,
            "task": TASK,
        }

    def reference(self, torch: str) -> HeldFix:
        """The first fix that answers the task and holds on this release."""
        return next(fix for fix in self.fixes if fix.answers and torch in fix.verified_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixBenchmark:
    """All tasks, by name, and the programs that are none."""

    tasks: tuple[Task, ...]
    left_out: Mapping[str, tuple[str, ...]]
    """A key of LEFT_OUT -> names of programs, sorted."""

    def on(self, torch: str) -> tuple[Task, ...]:
        """The tasks that can be checked on a release."""
        return tuple(task for task in self.tasks if torch in task.releases)

    @property
    def counts(self) -> dict[str, int]:
        """Each release with tasks, newest first -> how many it has."""
        named = {torch for task in self.tasks for torch in task.releases}
        return {torch: len(self.on(torch)) for torch in sorted(named, key=version_key, reverse=True)}


def make_benchmark(registry: Registry) -> FixBenchmark:
    """Make a task of each program that can be one."""
    titles = {category.key: category.title for category in (*registry.categories, UNCATEGORISED)}
    tasks: list[Task] = []
    left_out: dict[str, list[str]] = {reason: [] for reason in LEFT_OUT}
    for gb in registry:
        for one in gb.programs:
            program = take_apart(one.repro)
            fixes = tuple(_held_fixes(one, program))
            if reason := _why_left_out(one, program, fixes):
                left_out[reason].append(one.repro.name)
            else:
                tasks.append(_task(gb, one, program, fixes, titles[gb.category]))
    return FixBenchmark(
        tasks=tuple(sorted(tasks, key=lambda task: task.name)),
        left_out={reason: tuple(sorted(names)) for reason, names in left_out.items()},
    )


def benchmark_text(benchmark: FixBenchmark) -> str:
    """The file of all tasks: one JSON object per line."""
    return json_lines(map(_line, benchmark.tasks))


def prompt_text(tasks: tuple[Task, ...]) -> str:
    """What may be given to a model: id and prompt of each task, one JSON object per line."""
    return json_lines({"id": task.name, "prompt": task.prompt} for task in tasks)


def json_lines(objects: Iterable[Mapping[str, Any]]) -> str:
    """One JSON object per line."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)


def _proofs(one: Example) -> list[Evidence]:
    """The runs on a CPU that verified the program as it is now, oldest release first."""
    return [seen for seen in one.fresh_evidence if seen.verdict == "verified" and seen.environment.device == "cpu"]


def _held_fixes(one: Example, program: Program) -> Iterator[HeldFix]:
    for fix in program.fixes:
        if held := tuple(seen.environment.torch for seen in _proofs(one) if seen.fixes.get(fix.name)):
            yield HeldFix(
                name=fix.name,
                kind=fix.kind,
                when=fix.when,
                code=f"{fix.addition}\n",
                settings=fix.settings,
                verified_on=held,
                answers=_answers(one, fix),
            )


def _answers(one: Example, fix: Snippet) -> bool:
    differs = fix.name in {*one.repro.effects, *one.repro.opaque, *one.repro.gradient, *one.repro.limits}
    return fix.kind == "rewrite" and not differs and not _CALLER.search(fix.addition)


def _why_left_out(one: Example, program: Program, fixes: tuple[HeldFix, ...]) -> str:
    """A key of LEFT_OUT; empty if the program is a task."""
    kinds = {fix.kind for fix in fixes}
    if one.repro.eager_raises:
        return "eager"
    if not fixes:
        return "none"
    if re.search(r"^COVERAGE\b", one.repro.source, re.MULTILINE):
        return "coverage"
    if one.repro.reach == "bytecode":
        return "bytecode"
    if "rewrite" not in kinds:
        return "operator" if "custom op" in kinds else "setting"
    if _CALLER.search(program.unfixed):
        return "caller"
    if not any(fix.answers for fix in fixes):
        rewrites = (fix for fix in fixes if fix.kind == "rewrite")
        return "caller" if any(_CALLER.search(fix.code) for fix in rewrites) else "effects"
    return "shown" if _shows(program, fixes) else ""


def _shows(program: Program, fixes: tuple[HeldFix, ...]) -> bool:
    """Whether the program has something that it does not use, and a fix does."""
    unfixed = ast.parse(program.unfixed)
    unused = _defined_inside(unfixed) - _used(unfixed)
    return bool(unused) and any(not unused.isdisjoint(_used(ast.parse(fix.code))) for fix in fixes)


def _defined_inside(module: ast.Module) -> set[str]:
    """Methods and attributes that a program's classes define, and texts that it runs as code; Python calls `__x__`."""
    inside = [inner for node in module.body if isinstance(node, ast.ClassDef) for inner in ast.walk(node)]
    names = {node.name for node in inside if isinstance(node, ast.FunctionDef)}
    names |= {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {node.attr for node in inside if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    texts = (node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    names |= {name for text in texts for name in re.findall(r"^ *def (\w+)\(", text, re.MULTILINE)}
    return {name for name in names if not name.startswith("__")}


def _used(module: ast.Module) -> set[str]:
    nodes = list(ast.walk(module))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    names |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}


def _task(gb: GraphBreak, one: Example, program: Program, fixes: tuple[HeldFix, ...], category: str) -> Task:
    newest = _proofs(one)[-1]
    compared = {newest.gradients.get(fix.name, "") for fix in fixes} - {""}
    return Task(
        name=one.repro.name,
        gb_id=gb.gb_id,
        gb_type=gb.gb_type,
        category=category,
        torch=newest.environment.torch,
        message=newest.message,
        program=program,
        repro_sha256=one.repro.sha256,
        gradients="equal" if "equal" in compared else min(compared, default=""),
        fixes=fixes,
    )


def _line(task: Task) -> dict[str, Any]:
    required = by_fix(ast.parse(task.program.constants), "REQUIRES")
    return {
        "$schema": "schema/fix-benchmark.json",
        "version": VERSION,
        "id": task.name,
        "prompt": task.prompt,
        "check": {
            "repro_sha256": task.repro_sha256,
            "kind": task.category,
            "torch": list(task.releases),
            "constants": task.program.constants,
            "seeds": list(SEEDS),
            "fresh_seeds": FRESH_SEEDS,
            "gradients": task.gradients,
            "requires": {key: ast.literal_eval(value) for key, value in required.items()},
        },
        "fixes": [asdict(fix) for fix in task.fixes],
    }
