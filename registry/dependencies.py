"""Which statements of a module one of its functions needs: what it reaches by name, and what adds to that.

Some statements do something that no function names: `torch._inductor.config.fallback_random = True`, `register()`.
They are the module's set-up.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Set
from functools import cached_property


class Statements:
    """The statements of one module, looked at once for all of its functions."""

    def __init__(self, module: ast.Module, source: str) -> None:
        self._lines = source.splitlines()
        self._nodes = [node for node in module.body if not is_plain_torch(node) and not is_text(node)]
        self._bound = {node: bound_names(node) for node in self._nodes}
        self._needs: dict[ast.stmt, set[str]] = {}
        self._adds_to = {node: _adds_to(node) for node in self._nodes}
        self._doing = [node for node in self._nodes if _does_something(node)]
        self._touched_by = self._bound | {node: self._bound[node] | self._adds_to[node] for node in self._doing}

    def needed_by(self, *names: str, without: Set[str] = frozenset(), set_up: bool = False) -> list[ast.stmt]:
        """Return the function and what it reaches of its module, in order; `import torch` goes without saying.

        What makes a name of `without`, or does something to one, is left out. `set_up` asks for the module's, too.
        """
        nodes = [node for node in self._nodes if self._touched_by[node].isdisjoint(without)]
        needed = {node for node in nodes if set_up and node in self._set_up}
        reached = {*names}.union(*map(self._reached_from, needed))
        while fresh := {node for node in nodes if node not in needed and self._belongs(node, reached)}:
            needed |= fresh
            reached = reached.union(*map(self._reached_from, fresh))
        return [node for node in nodes if node in needed]

    @cached_property
    def _set_up(self) -> list[ast.stmt]:
        """Statements that do something, but to nothing of this module that its definitions use."""
        made = {name for node in self._nodes if not _is_import(node) for name in self._bound[node]}
        used = {name for node in self._nodes if node not in self._doing for name in self._needs_of(node)}
        used |= {name for node in self._doing for name in (*_changed_names(node), *_called_on(node))}
        own = {name for name in used if name in made or name.startswith(_OPERATORS)}
        return [node for node in self._doing if self._adds_to[node].isdisjoint(own)]

    def _reached_from(self, node: ast.stmt) -> set[str]:
        return self._bound[node] | self._needs_of(node)

    def _belongs(self, node: ast.stmt, reached: set[str]) -> bool:
        return not (self._bound[node].isdisjoint(reached) and self._adds_to[node].isdisjoint(reached))

    def _needs_of(self, node: ast.stmt) -> set[str]:
        if node not in self._needs:
            text = "\n".join(self._lines[first_line(node) - 1 : node.end_lineno])
            self._needs[node] = _used_names(text) | {
                f"{_OPERATORS}{namespace}" for namespace in _operator_namespaces(node, text)
            }
        return self._needs[node]


def first_line(node: ast.stmt) -> int:
    """Its own, or that of its first decorator."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(found.lineno for found in decorators)])


def bound_names(node: ast.stmt) -> set[str]:
    """The names that a statement of the module makes."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    parts = list(ast.walk(node))
    inner = [one for one in parts if isinstance(one, ast.stmt) and one is not node]
    own = {one.id for one in parts if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return own.union(*map(bound_names, inner))  # `try: import x` and its like


def is_plain_torch(node: ast.stmt) -> bool:
    """`import torch`, which goes without saying."""
    return isinstance(node, ast.Import) and [alias.name for alias in node.names] == ["torch"]


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _adds_to(node: ast.stmt) -> set[str]:
    """What a statement is about without making it: `op.register_fake(...)`, a decorator, an operator by name."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        users: list[ast.AST] = list(node.decorator_list)
    elif changed := _changed_names(node):
        return changed
    else:
        users = [node] if _does_something(node) else []
    names = {used.id for user in users for used in ast.walk(user) if isinstance(used, ast.Name)} - {"torch"}
    return names | {f"{_OPERATORS}{text.partition('::')[0]}" for text in _texts(node)}


def _does_something(node: ast.stmt) -> bool:
    """Whether a statement is there for what it does, and not only for a name that it makes."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return bool(_changed_names(node))
    return not isinstance(node, ast.FunctionDef | ast.ClassDef) and not _is_import(node)


def _changed_names(node: ast.stmt) -> set[str]:
    """`weight` of `weight.grad = …` and of `weight[0] = …`, in loops, too."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return set()
    stores = (ast.Attribute, ast.Subscript)
    places = [one for one in ast.walk(node) if isinstance(one, stores) and isinstance(one.ctx, ast.Store)]
    return {next(part.id for part in ast.walk(place) if isinstance(part, ast.Name)) for place in places}


def _called_on(node: ast.stmt) -> set[str]:
    """`library` of `library.define(…)`."""
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return (
        {one.id for one in ast.walk(called) if isinstance(one, ast.Name)}
        if isinstance(called, ast.Attribute)
        else set()
    )


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _texts(node: ast.stmt) -> Iterator[str]:
    """String literals of a statement that is none of the functions: `Library("mine", "DEF")`."""
    nodes: list[ast.AST] = list(node.decorator_list) if isinstance(node, ast.FunctionDef | ast.ClassDef) else [node]
    for part in nodes:
        for found in ast.walk(part):
            if isinstance(found, ast.Constant) and isinstance(found.value, str):
                yield found.value


_NAMESPACES = ("ops", "classes")
_OPERATORS = "ops:"
"""Before the namespace of operators, where names of the module are meant otherwise."""


def _operator_namespaces(node: ast.stmt, text: str) -> Iterator[str]:
    """`torch.ops.mine.double` gives `mine`, and so does `torch.classes.mine`."""
    for found in ast.walk(node) if any(f".{name}." in text for name in _NAMESPACES) else ():
        holder = found.value if isinstance(found, ast.Attribute) else None
        if isinstance(found, ast.Attribute) and isinstance(holder, ast.Attribute) and holder.attr in _NAMESPACES:
            yield found.attr


def _used_names(text: str) -> set[str]:
    """The names of the module that a statement uses; a name that a function makes for itself is none of them."""
    table = symtable.symtable(text, "repro", "exec")
    return {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()} | _globals_inside(table)


def _globals_inside(table: symtable.SymbolTable) -> set[str]:
    found: set[str] = set()
    for inner in table.get_children():
        found |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global()} | _globals_inside(inner)
    return found
