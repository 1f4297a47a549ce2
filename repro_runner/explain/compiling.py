"""Compile the functions that `--compile MODULE:FUNC` names, although the program itself does not compile them.

A function of the program is compiled after the statement that defines it; line numbers do not change. A function of
another module is compiled after that module is executed, before anything can import the function. The backend is
eager: breaks do not depend on the backend, results stay the same, and no code is generated.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.explain.importing import AfterImport
from repro_runner.output.suggestions import did_you_mean

BACKEND = "eager"
_MISSING = object()
_COMPILE = "__graphbreak_compile__"
"""The name of the function whose calls are inserted into the program."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTarget:
    """A parsed `MODULE:FUNC`. The module is empty for the program itself."""

    spec: str
    module: str
    name: str

    @property
    def first(self) -> str:
        """The name that the module must define: `Net` of `Net.forward`."""
        return self.name.partition(".")[0]


def read_targets(specs: Iterable[str], main: Callable[[str], bool], folder: str) -> list[CompileTarget]:
    """Parse `MODULE:FUNC` texts. `main(where)` is true for the program itself. Files must be modules below `folder`.

    Raises InvalidInput with every text that can't be parsed.
    """
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
    """The name under which the program imports a file: `sub.model` for `sub/model.py`; None outside of `folder`."""
    if not where.endswith(".py"):
        return where
    path = Path(where) if Path(where).is_file() else Path(folder, where)
    try:
        return ".".join(path.resolve().relative_to(Path(folder).resolve()).with_suffix("").parts)
    except ValueError:
        return None


def compile_named(names: dict[str, Any], target: CompileTarget, undo: ExitStack | None = None) -> None:
    """Replace the function, method or class that `target` names by a compiled one. Raises InvalidInput."""
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
        _replace(owner, last, _compiled(_as_defined(owner, last), target), undo)


def _compile_calls(called: type, target: CompileTarget, undo: ExitStack | None) -> None:
    """Compile what runs when an instance is called: `forward` if the class has one, else `__call__`."""
    for name in ("forward", "__call__"):
        for base in called.__mro__:
            if name in vars(base):
                _replace(called, name, _compiled(vars(base)[name], target), undo)
                return
    raise InvalidInput([Problem(target.spec, "a class with no `forward` and no `__call__`; name a method of it")])


def _member(owner: Any, name: str, target: CompileTarget) -> Any:
    found = owner.get(name, _MISSING) if isinstance(owner, dict) else getattr(owner, name, _MISSING)
    if found is _MISSING:
        names = owner if isinstance(owner, dict) else dir(owner)
        raise InvalidInput([missing_name(target, name, names)])
    return found


def missing_name(target: CompileTarget, name: str, names: Iterable[str]) -> Problem:
    """The problem that `name` is not among `names`, with names that are spelt in a similar way."""
    known = [one for one in names if not one.startswith("__")]
    return Problem(target.spec, f"there is no `{name}`{did_you_mean(name, known, spelled='`{}`'.format)}")


def _as_defined(owner: Any, name: str) -> Any:
    """The member as it was defined: a static method stays a staticmethod object."""
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
    """Import the modules of all targets outside of the program, and compile the targets before any other code runs.

    Raises InvalidInput with every target that can't be imported or compiled.
    """
    wanted: dict[str, list[CompileTarget]] = {}
    for target in targets:
        if target.module:
            wanted.setdefault(target.module, []).append(target)

    def compile_in(module: ModuleType) -> None:
        for target in wanted[module.__name__]:
            compile_named(vars(module), target, undo)

    hook = AfterImport(dict.fromkeys(wanted, compile_in))
    hook.install()
    undo.callback(hook.remove)
    problems: list[Problem] = []
    for name, in_module in wanted.items():
        loaded = sys.modules.get(name)
        try:
            module = importlib.import_module(name)
            for target in in_module if loaded is module else ():
                compile_named(vars(module), target, undo)
        except InvalidInput as refused:
            problems += refused.problems
        except (Exception, SystemExit) as error:  # noqa: BLE001  a user's module may raise anything when it is imported
            problems += [Problem(one.spec, f"can't be imported: {type(error).__name__}: {error}") for one in in_module]
    if problems:
        raise InvalidInput(problems)


def compiling_code(source: bytes | str, file: str, targets: list[CompileTarget], names: dict[str, Any]) -> CodeType:
    """The program's code, with each target compiled right after its definition. Line numbers do not change.

    Raises InvalidInput if the program does not define a target, and SyntaxError.
    """
    tree = ast.parse(source, file)
    bound = set(_bound(tree.body))
    missing = [target for target in targets if target.first not in bound]
    if missing and "*" not in bound:
        raise InvalidInput([missing_name(target, target.first, bound) for target in missing])
    by_spec = {target.spec: target for target in targets}

    def compile_one(spec: str) -> None:
        if by_spec[spec].first in names:  # after a star import the name may not exist
            compile_named(names, by_spec[spec])

    names[_COMPILE] = compile_one
    _insert(tree, targets)
    return compile(tree, file, "exec", dont_inherit=True)


def _insert(tree: Any, targets: list[CompileTarget]) -> None:
    """Insert a call after each statement at module level that defines the first name of a target."""
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
    """Yield the names that these statements define at their own level."""
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
