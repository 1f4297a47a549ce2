"""Compile functions of somebody's program although the program does not, each as soon as it exists.

In the program itself that is after the statement that defines it, with every line where it was; in another module,
after that module is executed and before anybody can import the function from there.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

from registry.errors import InvalidInput, Problem
from repro_runner.explain.targets import Target, absent, compile_named

_COMPILE = "__graphbreak_compile__"
"""What the program's own statements are followed by calls of."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def import_compiled(targets: Iterable[Target], undo: ExitStack) -> None:
    """Import the modules of those that are not the program's own; each has its functions compiled from the first on."""
    wanted: dict[str, list[Target]] = {}
    for target in targets:
        if target.module:
            wanted.setdefault(target.module, []).append(target)
    finder = _Finder(wanted, undo)
    sys.meta_path.insert(0, finder)
    undo.callback(sys.meta_path.remove, finder)
    problems: list[Problem] = []
    for name, there in wanted.items():
        loaded = sys.modules.get(name)
        try:
            module = importlib.import_module(name)
            for target in there if loaded is module else ():
                compile_named(vars(module), target, undo)
        except InvalidInput as refused:
            problems += refused.problems
        except (Exception, SystemExit) as error:  # noqa: BLE001  a user's module may raise anything when it is imported
            problems += [Problem(one.spec, f"can't be imported: {type(error).__name__}: {error}") for one in there]
    if problems:
        raise InvalidInput(problems)


class _Finder:
    """Finds modules as the others do, and compiles in them before their importers go on."""

    def __init__(self, wanted: Mapping[str, list[Target]], undo: ExitStack) -> None:
        self._wanted = wanted
        self._undo = undo

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in self._wanted:
            return None
        others = (one.find_spec(name, path, target) for one in sys.meta_path if one is not self)
        spec = next((one for one in others if one is not None), None)
        loader: Any = spec.loader if spec is not None else None
        execute = getattr(loader, "exec_module", None)
        if execute is not None:

            def exec_module(module: ModuleType) -> None:
                execute(module)
                for one in self._wanted[name]:
                    compile_named(vars(module), one, self._undo)

            loader.exec_module = exec_module
        return spec


def compiling_code(source: bytes | str, file: str, targets: list[Target], names: dict[str, Any]) -> CodeType:
    """The program's code with each target compiled right after it is defined; lines stay where they are."""
    tree = ast.parse(source, file)
    bound = set(_bound(tree.body))
    missing = [target for target in targets if target.first not in bound]
    if missing and "*" not in bound:
        raise InvalidInput([absent(target, target.first, bound) for target in missing])
    by_spec = {target.spec: target for target in targets}

    def compile_one(spec: str) -> None:
        if by_spec[spec].first in names:  # a star import need not have brought it
            compile_named(names, by_spec[spec])

    names[_COMPILE] = compile_one
    _insert(tree, targets)
    return compile(tree, file, "exec", dont_inherit=True)


def _insert(tree: Any, targets: list[Target]) -> None:
    """After each statement at the module's level that binds the first name of a target."""
    for name, body in ast.iter_fields(tree):
        if name not in ("body", "orelse", "finalbody", "handlers") or not isinstance(body, list):
            continue
        changed: list[ast.stmt] = []
        for statement in body:
            changed.append(statement)
            bound = set(_bound([statement])) if _binds_itself(statement) else set()
            changed += [_call(target, statement) for target in targets if bound & {target.first, "*"}]
            if not _binds_itself(statement):
                _insert(statement, targets)
        body[:] = changed


def _binds_itself(statement: Any) -> bool:
    return isinstance(statement, (*_SCOPES, ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom))


def _call(target: Target, statement: ast.stmt) -> ast.stmt:
    call = ast.parse(f"{_COMPILE}({target.spec!r})").body[0]
    line = statement.end_lineno or statement.lineno
    for node in ast.walk(call):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
    return call


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """The names that these statements give to something at their own level."""
    for statement in body:
        if isinstance(statement, _SCOPES):
            yield statement.name
            continue
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from ((one.asname or one.name).split(".")[0] for one in statement.names)
            continue
        for node in ast.walk(statement):
            if isinstance(node, _SCOPES):
                yield node.name
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
