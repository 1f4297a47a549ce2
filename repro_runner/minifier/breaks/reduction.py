"""Cut a program down, edit by edit, as long as it still breaks."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch

from repro_runner.minifier.breaks import edits
from repro_runner.minifier.breaks.program import Program, names_in, tidied
from repro_runner.minifier.recipes import can_be_drawn, drawn

Breaks = Callable[[Program], bool]
Edits = Callable[[Program], Iterator[Program]]


def reduce_program(program: Program, breaks: Breaks, *, most: int) -> Program:
    """The smallest program found with at most `most` trials; `program` itself must break."""
    known: dict[str, bool] = {program.code(): True}

    def still(edited: Program) -> bool:
        text = edited.code()
        if text not in known and len(known) <= most:
            known[text] = _compiles(text) and _says_something(edited) and breaks(edited)
        return known.get(text, False)

    before = None
    while program is not before:
        before = program
        for kind in _KINDS:
            program = _swept(program, kind, still)
    return program


def _swept(program: Program, kind: Edits, still: Breaks) -> Program:
    """Make every edit of a kind that can be made. After one, go on where it was: those before it failed just now."""
    position = 0
    while True:
        for index, edited in enumerate(map(tidied, kind(program))):
            if index >= position and _weight(edited) < _weight(program) and still(edited):
                program, position = edited, index
                break
        else:
            return program


def _weight(program: Program) -> tuple[int, int]:
    """Nodes of the program and, where these are as many, of what its inputs are drawn with."""
    own = sum(not isinstance(node, ast.expr_context | ast.arg) for node in ast.walk(program.tree))
    return own, sum(1 for value in program.inputs.values() for _ in ast.walk(value))


def _says_something(program: Program) -> bool:
    """Whether everything it computes is something else, and used: a fix is held to what the break was on the way to."""
    function = program.broken
    for statement in ast.walk(function):
        if not isinstance(statement, ast.Assign):
            continue
        inside = {id(node) for node in ast.walk(statement)}
        read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and id(node) not in inside}
        made = names_in(*statement.targets)
        if made.isdisjoint(read) or {ast.unparse(statement.value)} == made:
            return False
    return True


def _compiles(text: str) -> bool:
    try:
        compile(text, "candidate", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _tensors_seen(program: Program) -> dict[str, str]:
    """How to draw the tensors that expressions of `broken` gave in a run without a compiler."""
    seen: dict[str, str] = {}

    def note(text: str, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and can_be_drawn(value) and text not in seen:
            seen[text] = drawn(value)
        return value

    watched = program.copy()
    _Watched().visit(watched.broken)
    module = ModuleType("watched")
    vars(module)["_note"] = note
    sys.modules[module.__name__] = module
    try:
        with torch.random.fork_rng(devices=[]):
            exec(compile(watched.code(), "watched", "exec"), vars(module))  # a program that ran before
            torch.manual_seed(0)
            module.broken(*module.inputs())
    except Exception:  # noqa: BLE001 - what was seen until then will do
        pass
    finally:
        del sys.modules[module.__name__]
    return seen


class _Watched(ast.NodeTransformer):
    """`f(x)` -> `_note("f(x)", f(x))`."""

    def visit(self, node: ast.AST) -> Any:
        watched = isinstance(node, ast.Call | ast.BinOp | ast.Subscript | ast.Attribute)
        if not watched or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return self.generic_visit(node)
        text = ast.unparse(node)
        value: Any = self.generic_visit(node)
        return ast.Call(ast.Name("_note", ast.Load()), [ast.Constant(text), value], [])


def _with_inputs(program: Program) -> Iterator[Program]:
    return edits.with_inputs(program, _tensors_seen(program))


_KINDS: tuple[Edits, ...] = (
    edits.without_statements,
    edits.with_blocks_opened,
    edits.with_values_inlined,
    edits.with_literals_inlined,
    edits.with_simpler_expressions,
    _with_inputs,
    edits.with_plainer_inputs,
)
