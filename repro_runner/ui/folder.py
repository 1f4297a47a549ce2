"""The folder that the UI is about: its runs, its files with models, and what a model file offers. Nothing is imported:
files are read."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from registry.errors import InvalidInput
from repro_runner.output.places import find_below
from repro_runner.runs import RunFolder, list_runs, runs_home
from repro_runner.ui.serving import FOLDER

_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
_LARGEST = 500_000
"""Bytes of a file that is read."""
_MOST_FILES = 500
_INPUTS = frozenset({"make_inputs", "inputs"})
_NO_MODELS = _INPUTS | {"make_calls", "main"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFolder:
    """A resolved folder. Files are named relative to it."""

    folder: Path

    @classmethod
    def current(cls) -> ProjectFolder:
        """The one that `graphbreak ui` was started for; else the current folder."""
        return cls(folder=Path(os.environ.get(FOLDER) or Path.cwd()).resolve())

    @property
    def home(self) -> Path:
        return runs_home()

    def runs(self) -> list[RunFolder]:
        """The newest first; none if they can't be listed."""
        try:
            return list_runs(self.home)[::-1]
        except InvalidInput:
            return []

    def find(self, run_id: str) -> RunFolder | None:
        """The run with exactly this id. A path, or the beginning of an id, is none: the address may say anything."""
        return next((run for run in self.runs() if run.id == run_id), None)

    def holds(self, name: str) -> bool:
        """Whether this is a file below the folder, also after links are followed."""
        try:
            find_below(name, self.folder)
        except InvalidInput:
            return False
        return True

    def model_files(self) -> list[str]:
        """Python files below the folder that name torch, as far as there are not too many."""
        found = (name for name in self._files((".py",)) if b"torch" in self._read(name))
        return list(islice(found, _MOST_FILES))

    def capability_files(self) -> list[str]:
        """YAML files below the folder."""
        return list(islice(self._files((".yml", ".yaml")), _MOST_FILES))

    def functions(self, name: str) -> list[str]:
        """The functions of a file that can make a model, those that say so in their name first."""
        if not self.holds(name):
            return []
        try:
            tree = ast.parse(self._read(name))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        has_inputs = any(node.name in _INPUTS for node in functions)
        names = [node.name for node in functions if _can_make_a_model(node, has_inputs)]
        return sorted(names, key=lambda name: ("model" not in name, not name.startswith("make")))

    def _files(self, suffixes: tuple[str, ...]) -> Iterator[str]:
        for parent, folders, names in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
            for name in sorted(names):
                path = Path(parent, name).relative_to(self.folder).as_posix()
                if name.endswith(suffixes) and self.holds(path):
                    yield path

    def _read(self, name: str) -> bytes:
        path = self.folder / name
        try:
            return path.read_bytes() if path.stat().st_size <= _LARGEST else b""
        except OSError:
            return b""


def _can_make_a_model(node: ast.FunctionDef, has_inputs: bool) -> bool:
    """It returns something, and can be called without arguments, or with the inputs that the file makes."""
    if node.name.startswith("_") or node.name in _NO_MODELS:
        return False
    required = len(node.args.posonlyargs) + len(node.args.args) - len(node.args.defaults)
    required += sum(default is None for default in node.args.kw_defaults)
    returns = any(isinstance(each, ast.Return) and each.value is not None for each in ast.walk(node))
    return returns and (not required or has_inputs)
