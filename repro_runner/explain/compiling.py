"""Compile functions of a user's program although the program does not: what `--compile MODULE:FUNC` names.

Each is compiled as soon as it exists: in the program itself after the statement that defines it, with every line where
it was; in another module after that module is executed, and before the function can be imported from there. The
backend is eager: what breaks does not depend on the backend, results are the program's own, and no code is generated.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.output.suggestions import did_you_mean

BACKEND = "eager"
_MISSING = object()
_COMPILE = "__graphbreak_compile__"
"""What the program's own statements are followed by calls of."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTarget:
    """`MODULE:FUNC`; the module is empty for the program itself."""

    spec: str
    module: str
    name: str

    @property
    def first(self) -> str:
        """What the module has to bind."""
        return self.name.partition(".")[0]


def read_targets(specs: Iterable[str], main: Callable[[str], bool], folder: str) -> list[CompileTarget]:
    """Taken apart: `main` tells what means the program itself, files are imported as modules from `folder`."""
    targets, problems = [], []
    for spec in specs:
        where, _, name = spec.rpartition(":")
        if not where or not all(part.isidentifier() for part in name.split(".")):
            problems.append(Problem(spec, "name a function as `package.module:function` or `__main__:function`"))
            continue
        module = "" if main(where) else _module_name(where, folder)
        if module is None:
            problems.append(Problem(spec, f"the program can't import this file; give one below {folder}"))
            continue
        targets.append(CompileTarget(spec=spec, module=module, name=name))
    if problems:
        raise InvalidInput(problems)
    return targets


def _module_name(where: str, folder: str) -> str | None:
    """`sub/model.py` is what the program calls `sub.model`."""
    if not where.endswith(".py"):
        return where
    path = Path(where) if Path(where).is_file() else Path(folder, where)
    try:
        return ".".join(path.resolve().relative_to(Path(folder).resolve()).with_suffix("").parts)
    except ValueError:
        return None


def compile_named(names: dict[str, Any], target: CompileTarget, undo: ExitStack | None = None) -> None:
    """Put the compiled function, method or class in the place of the one that is there."""
    *path, last = target.name.split(".")
    owner: Any = names
    for step in path:
        owner = _member(owner, step, target)
    found = _member(owner, last, target)
    if inspect.isclass(found):
        _compile_calls(found, target, undo)
    elif isinstance(found, torch.nn.Module):
        found.compile(backend=BACKEND)
    else:
        _replace(owner, last, _compiled(_raw(owner, last), target), undo)


def _compile_calls(called: type, target: CompileTarget, undo: ExitStack | None) -> None:
    """What runs when an instance is called: its `forward`, of a module, or else its `__call__`."""
    for name in ("forward", "__call__"):
        for base in called.__mro__:
            if name in vars(base):
                _replace(called, name, _compiled(vars(base)[name], target), undo)
                return
    raise InvalidInput([Problem(target.spec, "a class with no `forward` and no `__call__`; name a method of it")])


def _member(owner: Any, name: str, target: CompileTarget) -> Any:
    found = owner.get(name, _MISSING) if isinstance(owner, dict) else getattr(owner, name, _MISSING)
    if found is _MISSING:
        there = owner if isinstance(owner, dict) else dir(owner)
        raise InvalidInput([absent(target, name, there)])
    return found


def absent(target: CompileTarget, name: str, there: Iterable[str]) -> Problem:
    """What to say of a name that is not there."""
    known = [one for one in there if not one.startswith("__")]
    return Problem(target.spec, f"there is no `{name}`{did_you_mean(name, known, spelled='`{}`'.format)}")


def _raw(owner: Any, name: str) -> Any:
    """As it was defined: a static method stays one."""
    return owner[name] if isinstance(owner, dict) else inspect.getattr_static(owner, name)


def _compiled(found: Any, target: CompileTarget) -> Any:
    if isinstance(found, (staticmethod, classmethod)):
        return type(found)(_compiled(found.__func__, target))
    if isinstance(found, property):
        return property(_compiled(found.fget, target), found.fset, found.fdel, found.__doc__)
    if not callable(found):
        raise InvalidInput([Problem(target.spec, f"can't be compiled: it is {type(found).__name__}, not a function")])
    return torch.compile(found, backend=BACKEND)


def _replace(owner: Any, name: str, compiled: Any, undo: ExitStack | None) -> None:
    if undo is not None:
        names = owner if isinstance(owner, dict) else vars(owner)
        undo.callback(_put, owner, name, names.get(name, _MISSING))
    _put(owner, name, compiled)


def _put(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, dict):
        owner[name] = value
    elif value is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, value)


def import_compiled(targets: Iterable[CompileTarget], undo: ExitStack) -> None:
    """Import the modules of those that are not the program's own; each has its functions compiled from the first on."""
    wanted: dict[str, list[CompileTarget]] = {}
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

    def __init__(self, wanted: Mapping[str, list[CompileTarget]], undo: ExitStack) -> None:
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


def compiling_code(source: bytes | str, file: str, targets: list[CompileTarget], names: dict[str, Any]) -> CodeType:
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


def _insert(tree: Any, targets: list[CompileTarget]) -> None:
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


def _call(target: CompileTarget, statement: ast.stmt) -> ast.stmt:
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
