"""Do something with a module right after it was imported, before anything can use it. This needs no torch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class AfterImport:
    """An import hook: finds modules with the other hooks, and calls the action of a module after it ran."""

    def __init__(self, actions: Mapping[str, Callable[[ModuleType], None]]) -> None:
        self._actions = actions

    def install(self) -> None:
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in self._actions:
            return None
        others = (one.find_spec(name, path, target) for one in sys.meta_path if one is not self)
        spec = next((one for one in others if one is not None), None)
        loader: Any = spec.loader if spec is not None else None
        execute = getattr(loader, "exec_module", None)
        if execute is not None:

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self._actions[name](module)

            loader.exec_module = exec_module
        return spec
