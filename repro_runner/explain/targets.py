"""What `--compile MODULE:FUNC` names, and compiling it where it stands.

The backend is eager: what breaks does not depend on the backend, results are the program's own, and no code is to be
generated.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from registry.errors import InvalidInput, Problem

BACKEND = "eager"
_MISSING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`MODULE:FUNC`; the module is empty for the program itself."""

    spec: str
    module: str
    name: str

    @property
    def first(self) -> str:
        """What the module has to bind."""
        return self.name.partition(".")[0]


def read_targets(specs: Iterable[str], main: Callable[[str], bool], folder: str) -> list[Target]:
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
        targets.append(Target(spec=spec, module=module, name=name))
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


def compile_named(names: dict[str, Any], target: Target, undo: ExitStack | None = None) -> None:
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


def _compile_calls(called: type, target: Target, undo: ExitStack | None) -> None:
    """What runs when an instance is called: its `forward`, of a module, or else its `__call__`."""
    for name in ("forward", "__call__"):
        for base in called.__mro__:
            if name in vars(base):
                _replace(called, name, _compiled(vars(base)[name], target), undo)
                return
    raise InvalidInput([Problem(target.spec, "a class with no `forward` and no `__call__`; name a method of it")])


def _member(owner: Any, name: str, target: Target) -> Any:
    found = owner.get(name, _MISSING) if isinstance(owner, dict) else getattr(owner, name, _MISSING)
    if found is _MISSING:
        there = owner if isinstance(owner, dict) else dir(owner)
        raise InvalidInput([absent(target, name, there)])
    return found


def absent(target: Target, name: str, there: Iterable[str]) -> Problem:
    """What to say of a name that is not there."""
    near = difflib.get_close_matches(name, [one for one in there if not one.startswith("__")], n=3)
    meant = f"; did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else ""
    return Problem(target.spec, f"there is no `{name}`{meant}")


def _raw(owner: Any, name: str) -> Any:
    """As it was defined: a static method stays one."""
    return owner[name] if isinstance(owner, dict) else inspect.getattr_static(owner, name)


def _compiled(found: Any, target: Target) -> Any:
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
