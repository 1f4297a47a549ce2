"""A backend by a name that a script can use, too: a registered one, or `module:attribute`."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.model_under_test.model import describe_error

_HOW = "name a registered backend, or `module:attribute`, or `FILE.py:attribute`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedBackend:
    """How a script gets it: the body of a function `backend()`, and the modules that must be importable for it."""

    name: str
    body: tuple[str, ...]
    modules: tuple[str, ...] = ()

    def code(self, *before: str) -> str:
        """`def backend(): …`, with lines of one's own before it returns."""
        return "\n".join(["def backend():", *(f"    {line}".rstrip() for line in (*before, *self.body))])


def read_backend(backend: str | Callable[..., Any]) -> NamedBackend:
    """Find it; InvalidInput if there is none, or if it has no name that another process could use."""
    if not isinstance(backend, str):
        return _of_function(backend)
    if ":" in backend:
        return _of_attribute(backend)
    registered: list[str] = torch._dynamo.list_backends(exclude_tags=())
    if backend not in registered:
        near = difflib.get_close_matches(backend, registered, n=3)
        meant = f"; did you mean {' or '.join(near)}?" if near else f"; {_HOW}"
        raise InvalidInput([Problem(f"backend {backend}", f"no such backend{meant}")])
    lookup: Any = torch._dynamo.lookup_backend
    home = getattr(lookup(backend), "__module__", "torch")
    found = f'return "{backend}"'
    if home.partition(".")[0] == "torch" or _is_installed(backend):
        return NamedBackend(name=backend, body=(found,))
    return NamedBackend(name=backend, body=(f"import {home}  # registers it", "", found), modules=(home,))


def _of_attribute(spec: str) -> NamedBackend:
    source, _, attribute = spec.rpartition(":")
    # A script imports a file by its name, too: its folder is then one where modules are found.
    folder, module = (
        (Path(source).resolve().parent, Path(source).stem) if source.endswith(".py") else (Path.cwd(), source)
    )
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except Exception as error:  # a module may raise anything when it is imported
        raise InvalidInput(
            [Problem(f"backend {spec}", f"{describe_error(error)}, while importing {module}")]
        ) from error
    if not callable(found):
        raise InvalidInput([Problem(f"backend {spec}", f"no function `{attribute}` in {module}; {_HOW}")])
    return NamedBackend(
        name=spec, body=(f"from {module} import {attribute}", "", f"return {attribute}"), modules=(module,)
    )


def _of_function(function: Callable[..., Any]) -> NamedBackend:
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    if module in ("", "__main__") or getattr(sys.modules.get(module), name, None) is not function:
        where = f"backend {name or function!r}"
        raise InvalidInput([Problem(where, f"another process can't import it; {_HOW}")])
    return _of_attribute(f"{module}:{name}")


def _is_installed(backend: str) -> bool:
    """Whether any process finds it, by an entry point."""
    from importlib.metadata import entry_points

    return backend in entry_points(group="torch_dynamo_backends").names
