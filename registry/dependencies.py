"""Which statements of a module one of its functions needs: what it reaches by name, and what adds to that."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator


class Statements:
    """The statements of one module, looked at once for all of its functions."""

    def __init__(self, module: ast.Module) -> None:
        self._nodes = [node for node in module.body if not _is_plain_torch(node) and not _is_text(node)]
        self._bound = {node: bound_names(node) for node in self._nodes}
        self._adds_to = {node: _adds_to(node) for node in self._nodes}
        self._needs: dict[ast.stmt, set[str]] = {}

    def needed_by(self, name: str) -> list[ast.stmt]:
        """Return the function and what it reaches of its module, in order; `import torch` goes without saying."""
        reached = {name}
        needed: set[ast.stmt] = set()
        while fresh := {node for node in self._nodes if node not in needed and self._belongs(node, reached)}:
            needed |= fresh
            for node in fresh:
                reached |= self._bound[node] | self._needs_of(node)
        return [node for node in self._nodes if node in needed]

    def _belongs(self, node: ast.stmt, reached: set[str]) -> bool:
        return not (self._bound[node].isdisjoint(reached) and self._adds_to[node].isdisjoint(reached))

    def _needs_of(self, node: ast.stmt) -> set[str]:
        if node not in self._needs:
            self._needs[node] = _used_names(node) | {f"ops:{namespace}" for namespace in _operator_namespaces(node)}
        return self._needs[node]


def bound_names(node: ast.stmt) -> set[str]:
    """The names that a statement of the module makes."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    inner = [one for one in ast.walk(node) if isinstance(one, ast.stmt) and one is not node]
    own = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return own.union(*map(bound_names, inner))  # `try: import x` and its like


def _is_plain_torch(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import) and [alias.name for alias in node.names] == ["torch"]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _adds_to(node: ast.stmt) -> set[str]:
    """What a statement is about without making it: `op.register_fake(...)`, a decorator, an operator by name."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        users: list[ast.AST] = list(node.decorator_list)
    elif isinstance(node, ast.Expr):
        users = [node]
    else:
        users = []
    names = {used.id for user in users for used in ast.walk(user) if isinstance(used, ast.Name)} - {"torch"}
    return names | {f"ops:{text.partition('::')[0]}" for text in _texts(node)}


def _texts(node: ast.stmt) -> Iterator[str]:
    """String literals of a statement that is none of the functions: `Library("mine", "DEF")`."""
    nodes: list[ast.AST] = list(node.decorator_list) if isinstance(node, ast.FunctionDef) else [node]
    if isinstance(node, ast.ClassDef):
        nodes = []
    for part in nodes:
        for found in ast.walk(part):
            if isinstance(found, ast.Constant) and isinstance(found.value, str):
                yield found.value


def _operator_namespaces(node: ast.stmt) -> Iterator[str]:
    """`torch.ops.mine.double` gives `mine`."""
    for found in ast.walk(node):
        if isinstance(found, ast.Attribute) and isinstance(found.value, ast.Attribute) and found.value.attr == "ops":
            yield found.attr


def _used_names(node: ast.stmt) -> set[str]:
    """The names of the module that a statement uses; a name that a function makes for itself is none of them."""
    table = symtable.symtable(ast.unparse(node), "repro", "exec")
    return {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()} | _globals_inside(table)


def _globals_inside(table: symtable.SymbolTable) -> set[str]:
    found: set[str] = set()
    for inner in table.get_children():
        found |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global()} | _globals_inside(inner)
    return found
