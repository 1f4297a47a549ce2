"""Names in a program's text: what gives them a meaning, and what takes another's meaning away."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator


def bound_by(alias: ast.alias) -> str:
    """The name that an import gives a meaning."""
    return alias.asname or alias.name.partition(".")[0]


def ends_with(node: ast.expr, name: str) -> bool:
    """Whether the last name in it is this one: `torch._dynamo.config` ends with `config`."""
    return (isinstance(node, ast.Attribute) and node.attr == name) or (isinstance(node, ast.Name) and node.id == name)


def find_overwritten(tree: ast.Module, original: ast.Module) -> Iterator[str]:
    """What may be somebody else's and gets another meaning: attributes of anything but `self`, names that the original
    imports, built-in names of the whole file. A gradient may be set, and flags of torch._dynamo.config have a rule of
    their own."""
    imported = dict(_imported(original))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            text = ast.unparse(node)
            flag = text.startswith("torch._dynamo.config.")
            if not (ends_with(node.value, "self") or flag or node.attr == "grad"):
                yield text
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        else:
            yield from (imported.keys() & _binds(node)) | ({"self"} & _assigns(node))
    yield from (name for name, what in _imported(tree) if imported.get(name, what) != what)
    at_top = {name for statement in tree.body for node in _outside_functions(statement) for name in _binds(node)}
    yield from sorted(at_top & set(dir(builtins)))


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(the name, what it stands for) of each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                whole = f"{start}{alias.name}"
                yield bound_by(alias), whole if alias.asname or start else alias.name.partition(".")[0]


def _binds(node: ast.AST) -> set[str]:
    """The names that this node itself gives a meaning, besides imports."""
    if isinstance(node, ast.arg):
        return {node.arg}
    if isinstance(node, ast.alias):
        return set()
    name = getattr(node, "name", None)  # of functions, classes, `except … as`, and patterns of `match`
    return {name} if isinstance(name, str) else _assigns(node)


def _assigns(node: ast.AST) -> set[str]:
    return {node.id} if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) else set()


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is in it, but nothing that belongs to a function or a class."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _outside_functions(child)
