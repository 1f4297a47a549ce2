"""Cut a program down, edit by edit, as long as it still breaks."""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import io
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import torch

from registry.dependencies import bound_names
from repro_runner.minifier.breaks.program import Program, names_in, names_made_in, tidied
from repro_runner.minifier.recipes import can_be_drawn, drawn

_BLOCKS = ("body", "orelse", "finalbody")
Breaks = Callable[[Program], bool]
Edits = Callable[[Program], Iterator[Program]]


def reduce_program(program: Program, breaks: Breaks, *, most: int, until: float = math.inf) -> Program:
    """The smallest program found with at most `most` trials; `program` itself must break.

    After `until`, a time of time.monotonic(), no trial starts.
    """
    known: dict[str, bool] = {program.code(): True}

    def still(edited: Program) -> bool:
        text = edited.code()
        if text not in known and len(known) <= most:
            known[text] = _compiles(text) and _knows_its_names(edited) and _is_meaningful(edited) and breaks(edited)
        return known.get(text, False)

    before = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what an edit makes may be odd: `5 is not None`
        while program is not before:
            before = program
            for kind in _KINDS:
                program = _apply_edits(program, kind, still, until)
    return program


def _apply_edits(program: Program, kind: Edits, still: Breaks, until: float) -> Program:
    """Make every edit of a kind that can be made. After each, go on at its position: the edits before it failed."""
    position = 0
    while True:
        for index, edited in enumerate(map(tidied, kind(program))):
            if time.monotonic() > until:
                return program
            if index >= position and _weight(edited) < _weight(program) and still(edited):
                program, position = edited, index
                break
        else:
            return program


def _weight(program: Program) -> tuple[int, int]:
    """The size to compare programs by: nodes of the program, then nodes of the expressions of its inputs."""
    own = sum(not isinstance(node, ast.expr_context | ast.arg) for node in ast.walk(program.tree))
    return own, sum(1 for value in program.inputs.values() for _ in ast.walk(value))


def _knows_its_names(program: Program) -> bool:
    """Whether every name that `broken` uses is made somewhere: else there is no need to run it."""
    known = {"torch", *dir(builtins)}.union(*map(bound_names, program.tree.body))
    return names_in(program.broken) <= known | names_made_in(program.broken)


def _is_meaningful(program: Program) -> bool:
    """Whether every assignment makes a new value that is used: a fix has to compute the same values."""
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
        silence = io.StringIO()
        with torch.random.fork_rng(devices=[]), contextlib.redirect_stdout(silence):
            exec(compile(watched.code(), "watched", "exec"), vars(module))  # a program that ran before
            torch.manual_seed(0)
            module.broken(*module.inputs())
    except Exception:  # noqa: BLE001 - what was seen until then is enough
        pass
    finally:
        del sys.modules[module.__name__]
    return seen


class _Watched(ast.NodeTransformer):
    """`f(x)` -> `_note("f(x)", f(x))`."""

    def visit(self, node: ast.AST) -> Any:
        watched = isinstance(node, ast.Call | ast.BinOp | ast.Subscript | ast.Attribute)
        if not watched or not _is_read(node):
            return self.generic_visit(node)
        text = ast.unparse(node)
        value: Any = self.generic_visit(node)
        return ast.Call(ast.Name("_note", ast.Load()), [ast.Constant(text), value], [])


# The kinds of edits that make a program smaller. Each yields new programs, those with the largest cuts first.


def without_statements(program: Program) -> Iterator[Program]:
    """Without a run of statements of one block: halves, quarters, single ones, the last first. At the top
    level only expression statements: `tidied` removes definitions that nothing uses."""
    for place, statement in enumerate(program.tree.body):
        if isinstance(statement, ast.Expr):
            edited = program.copy()
            del edited.tree.body[place]
            yield edited
    for index, node in enumerate(ast.walk(program.tree)):
        for field in _BLOCKS if not isinstance(node, ast.Module | ast.ClassDef) else ():
            count = len(_block(node, field))
            for run in _runs(count):
                if field == "body" and run == slice(0, count):
                    continue  # an empty block is removed with its statement
                edited = program.copy()
                del _block(_node(edited, index), field)[run]
                yield edited


def without_elements(program: Program) -> Iterator[Program]:
    """Without a run of the elements of a literal list, tuple, set or dictionary. Large ones are data of the module."""
    for index, node in enumerate(ast.walk(program.tree)):
        fields = ("keys", "values") if isinstance(node, ast.Dict) else ("elts",)
        if isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.Set) and _is_read(node):
            for run in _runs(len(getattr(node, fields[0]))):
                edited = program.copy()
                for field in fields:
                    del getattr(_node(edited, index), field)[run]
                yield edited


def _runs(count: int) -> Iterator[slice]:
    """All of them, halves, quarters, single ones, the last first."""
    length = count
    while length:
        yield from (slice(start, start + length) for start in range(count - length, -1, -length))
        length //= 2


def _is_read(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def with_blocks_opened(program: Program) -> Iterator[Program]:
    """With the content of an `if`, a loop or a `with` in its place."""
    for index, node in enumerate(ast.walk(program.tree)):
        for field in _BLOCKS if not isinstance(node, ast.Module | ast.ClassDef) else ():
            for place, statement in enumerate(_block(node, field)):
                for inner in _BLOCKS if not isinstance(statement, ast.FunctionDef | ast.ClassDef) else ():
                    if content := _block(statement, inner):
                        edited = program.copy()
                        block = _block(_node(edited, index), field)
                        block[place : place + 1] = _block(block[place], inner)[: len(content)]
                        yield edited


def with_simpler_expressions(program: Program) -> Iterator[Program]:
    """With a part of an expression in its place, or without one of a call's arguments."""
    for index, node in enumerate(ast.walk(program.tree)):
        if isinstance(node, ast.Call):
            for arguments in ("keywords", "args"):
                for number in range(len(getattr(node, arguments))):
                    edited = program.copy()
                    del getattr(_node(edited, index), arguments)[number]
                    yield edited
        for field, place, value in _expressions(node):
            for part in filter(None, map(_standing_alone, _parts(value))):
                edited = program.copy()
                _put(_node(edited, index), field, place, part)
                yield edited


def with_values_inlined(program: Program) -> Iterator[Program]:
    """With what a name was given in its place, if it is given once and read in one place, or is another name."""
    function = program.broken
    for place, statement in enumerate(function.body):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name) or len(statement.targets) > 1:
            continue
        mentions = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == target.id]
        reads = [node for node in mentions if isinstance(node.ctx, ast.Load)]
        renames = isinstance(statement.value, ast.Name)
        if (len(mentions) - len(reads) == 1 and len(reads) == 1) or renames:
            edited = program.copy()
            del edited.broken.body[place]
            _Inlined(target.id, statement.value, everywhere=renames).visit(edited.broken)
            yield edited


def with_literals_inlined(program: Program) -> Iterator[Program]:
    """With the value of an argument that is a literal in its place."""
    stored = {
        node.id for node in ast.walk(program.broken) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for name, value in program.inputs.items():
        if isinstance(value, ast.Constant) and name not in stored:
            edited = program.copy()
            _Inlined(name, value, everywhere=False).visit(edited.broken)
            yield edited


def with_inputs(program: Program, seen: Mapping[str, str]) -> Iterator[Program]:
    """With a new argument in place of an expression that gives a tensor; `seen` has how to draw it, by expression."""
    for index, node in enumerate(ast.walk(program.broken)):
        for field, place, value in _expressions(node):
            text = ast.unparse(value)
            if isinstance(value, ast.Name | ast.Constant) or text not in seen:
                continue
            edited = program.copy()
            name = next(each for each in _fresh_names() if each not in names_in(program.tree) | program.inputs.keys())
            _put(list(ast.walk(edited.broken))[index], field, place, ast.Name(name, ast.Load()))
            edited.inputs[name] = ast.parse(seen[text], mode="eval").body
            edited.broken.args.args.append(ast.arg(name))
            yield edited


def with_plainer_inputs(program: Program) -> Iterator[Program]:
    """With an input that collects no gradient."""
    for name, value in program.inputs.items():
        if (
            isinstance(value, ast.Call)
            and isinstance(made := value.func, ast.Attribute)
            and made.attr == "requires_grad_"
        ):
            edited = program.copy()
            edited.inputs[name] = made.value
            yield edited


def _fresh_names() -> Iterator[str]:
    yield from "xyztuvw"
    number = 0
    while True:
        yield f"x{(number := number + 1)}"


class _Inlined(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr, *, everywhere: bool) -> None:
        self._name, self._value, self._everywhere = name, value, everywhere

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != self._name:
            return node
        if isinstance(node.ctx, ast.Store):
            return (
                ast.Name(self._value.id, node.ctx) if self._everywhere and isinstance(self._value, ast.Name) else node
            )
        return copy.deepcopy(self._value)


def _block(node: ast.AST, field: str) -> list[ast.stmt]:
    block = getattr(node, field, None)
    return block if isinstance(block, list) else []


def _node(program: Program, index: int) -> ast.AST:
    return list(ast.walk(program.tree))[index]


def _expressions(node: ast.AST) -> Iterator[tuple[str, int | None, ast.expr]]:
    """Each expression that is read there: the field, its place if that is a list, and the expression."""
    for field, value in ast.iter_fields(node):
        if field in ("targets", "target", "decorator_list", "bases", "func"):
            continue
        if isinstance(value, ast.expr) and not isinstance(value, ast.Slice):
            yield field, None, value
        elif isinstance(value, list):
            yield from ((field, place, each) for place, each in enumerate(value) if isinstance(each, ast.expr))


def _parts(value: ast.expr) -> Iterator[ast.expr]:
    """The expressions that one is made of: the receiver and the arguments of a call, both sides of a sum."""
    if isinstance(value, ast.Call):
        yield from (each for each in value.args if not isinstance(each, ast.Starred))
        if isinstance(value.func, ast.Attribute):
            yield value.func.value
        return
    inner = (each for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr))
    yield from (each for each in inner if not isinstance(each, ast.Slice | ast.Starred))


def _standing_alone(part: ast.expr) -> ast.expr | None:
    """The part as an expression of its own; None if it is none, as the `0, a:b` of `x[0, a:b]`."""
    try:
        return ast.parse(ast.unparse(part), mode="eval").body
    except SyntaxError:
        return None


def _put(node: ast.AST, field: str, place: int | None, value: ast.expr) -> None:
    if place is None:
        setattr(node, field, value)
    else:
        getattr(node, field)[place] = value


def _with_seen_inputs(program: Program) -> Iterator[Program]:
    return with_inputs(program, _tensors_seen(program))


_KINDS: tuple[Edits, ...] = (
    without_statements,
    with_blocks_opened,
    without_elements,
    with_values_inlined,
    with_literals_inlined,
    with_simpler_expressions,
    _with_seen_inputs,
    with_plainer_inputs,
)
