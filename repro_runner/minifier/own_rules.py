"""A limit that the user wrote, in a script: its class is copied if it can stand alone, else imported by name."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from registry.dependencies import Statements, bound_names
from repro_runner.constraints import Constraint, GraphConstraint
from repro_runner.constraints.narrowing import Narrowing
from repro_runner.minifier.parts import own_rule
from repro_runner.minifier.script import Part, statement_text

_PACKAGE = __name__.partition(".")[0]
_PLAIN = (bool, int, float, str, bytes, type(None), torch.dtype, torch.layout, torch.memory_format)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSource:
    """A definition of `complaints(node)`, or of `complaints(graph)` for a rule about whole graphs."""

    text: str
    parts: tuple[Part, ...] = ()
    """What it calls."""
    before: tuple[Part, ...] = ()
    """What has to be defined above it."""
    modules: tuple[str, ...] = ()
    """What has to be importable besides torch."""


def own_rules(constraint: Constraint) -> Iterator[RuleSource]:
    """The ways to put the rule into a script: its class copied, then imported. None if it can be neither."""
    state = _literal({name: each for name, each in vars(constraint).items() if each != Narrowing()})
    kind = type(constraint)
    module = sys.modules.get(kind.__module__)
    if state is None or getattr(module, kind.__name__, None) is not kind:
        return
    made = [f"rule = {kind.__name__}.__new__({kind.__name__})", f"vars(rule).update({state})"]
    if (copied := _copied(kind)) is not None:
        text, modules = copied
        loop = _complaints(constraint, made, "complaint")
        yield RuleSource(text=f"{text}\n\n\n{loop}", before=(own_rule,), modules=modules)
    loop = _complaints(constraint, [f"from {kind.__module__} import {kind.__name__}", "", *made], "complaint.message")
    yield RuleSource(text=loop, modules=(kind.__module__, _PACKAGE))


def _complaints(constraint: Constraint, made: list[str], shown: str) -> str:
    parameters, call = ("node", "check(node)")
    if isinstance(constraint, GraphConstraint):
        parameters, call = ("graph, _forward", "check_graph(graph)")
    lines = [
        f'"""{constraint.rule}, as {type(constraint).__name__} checks it."""',
        *made,
        f"for complaint in rule.{call}:",
        f"    yield {shown}",
    ]
    return "\n".join([f"def complaints({parameters}):", *(f"    {line}".rstrip() for line in lines)])


def _copied(kind: type[Constraint]) -> tuple[str, tuple[str, ...]] | None:
    """The text of the class with all that it needs of its module, and its parts; None if a script can't have that."""
    try:
        source = inspect.getsource(sys.modules[kind.__module__])
    except (OSError, TypeError):
        return None
    statements = Statements(ast.parse(source), source).needed_by(kind.__name__)
    own = [each for each in statements if not isinstance(each, ast.Import | ast.ImportFrom)]
    used = {name for each in own for name in _names_needed(each)}
    imports: list[str] = []
    foreign: set[str] = set()
    for statement in statements:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        roots = _roots(statement)
        if _PACKAGE in roots:
            if not (bound_names(statement) & used) <= vars(own_rule).keys():
                return None
        elif isinstance(statement, ast.ImportFrom) and statement.level:
            return None
        else:
            imports.append(ast.unparse(statement))
            foreign |= {name for name in roots if name not in sys.stdlib_module_names and name != "torch"}
    return "\n\n".join([*imports, *(statement_text(source, each) for each in own)]), tuple(sorted(foreign))


def _names_needed(node: ast.AST) -> Iterator[str]:
    """The names that are looked up when the code runs; names in type annotations are not."""
    if isinstance(node, ast.Name):
        yield node.id
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns"):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST):
                    yield from _names_needed(each)


def _roots(statement: ast.Import | ast.ImportFrom) -> list[str]:
    names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else [statement.module or ""]
    return [name.partition(".")[0] for name in names]


def _literal(value: Any) -> str | None:
    """The literal for a value in a script; None if there is none."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, dict):
        pairs = [(_literal(key), _literal(item)) for key, item in value.items()]
        return (
            None if any(None in pair for pair in pairs) else f"{{{', '.join(f'{key}: {item}' for key, item in pairs)}}}"
        )
    if type(value) in (list, tuple, set, frozenset):
        items = [_literal(item) for item in (value if isinstance(value, list | tuple) else sorted(value, key=str))]
        return None if None in items else f"{type(value).__name__}([{', '.join(map(str, items))}])"
    return None
