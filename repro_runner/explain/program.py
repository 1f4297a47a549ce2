"""A program to run in this process: the module that becomes `__main__`, and standard output while it runs."""

from __future__ import annotations

import atexit
import builtins
import ctypes
import importlib.util
import os
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from io import FileIO
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TextIO

from registry.errors import InvalidInput, Problem, WriteFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramToRun:
    """A script or a module, its arguments, and how to run it."""

    script: str = ""
    module: str = ""
    arguments: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    """Functions, methods and classes to compile for the program: `pkg.mod:step`, `model.py:Net.forward`, or
    `__main__:step` for a function of the program itself."""
    allow_breaks: bool = False
    """Run every `fullgraph=True` with fullgraph off, so that all breaks are listed and not only the first."""

    @property
    def name(self) -> str:
        return self.script or self.module


class MainModule(ABC):
    """The empty `__main__` module before anything ran, and the source of its code."""

    file: str
    """Its absolute path, so that the program finds its file even after os.chdir()."""
    argv0: str
    """The value for sys.argv[0]."""
    folder: str
    """The first entry of sys.path."""
    module: ModuleType

    @abstractmethod
    def code(self) -> CodeType:
        """The code object of the program. May raise SyntaxError, as `python` would."""

    @abstractmethod
    def source(self) -> bytes | str:
        """The text of the program. Raises InvalidInput if a module has none."""

    @abstractmethod
    def is_called(self, where: str) -> bool:
        """Whether `where`, a file or the name of a module, is this module."""


def find_main(*, script: str, module: str) -> MainModule:
    """The main module of a script or, if `script` is empty, of a module. Raises InvalidInput if there is none."""
    return _Script(script) if script else _Module(module)


class _Script(MainModule):
    def __init__(self, script: str) -> None:
        self._path = Path(script)
        if not self._path.is_file():
            raise InvalidInput([Problem(script, "no such script; name a file that `python` would run, or `-m MODULE`")])
        self.file = str(self._path.absolute())  # symbolic links stay, as in Python
        self.argv0 = script
        self.folder = str(self._path.resolve().parent)
        self.module = _empty_main(
            __file__=self.file, __cached__=None, __loader__=SourceFileLoader("__main__", self.file)
        )

    def code(self) -> CodeType:
        return compile(self.source(), self.file, "exec", dont_inherit=True)

    def source(self) -> bytes:
        return self._path.read_bytes()

    def is_called(self, where: str) -> bool:
        script = self._path.resolve()
        return where == "__main__" or script in (Path(where).resolve(), Path(self.folder, where).resolve())


class _Module(MainModule):
    def __init__(self, name: str) -> None:
        self._name = name
        self.folder = str(Path.cwd())
        self._spec = self._find()
        self._loader: Any = self._spec.loader
        self.file = self.argv0 = self._spec.origin or name
        self.module = _empty_main(
            __file__=self.file,
            __cached__=self._spec.cached,
            __spec__=self._spec,
            __loader__=self._loader,
            __package__=self._spec.parent,
        )

    def _find(self) -> ModuleSpec:
        """Find the module, in the current folder first; for a package, its `__main__`. Raises InvalidInput."""
        sys.path.insert(0, self.folder)
        try:
            spec = importlib.util.find_spec(self._name)
            if spec is not None and spec.submodule_search_locations is not None:
                spec = importlib.util.find_spec(f"{self._name}.__main__")
        except Exception as error:  # find_spec imports the parent package, which may raise anything
            raise InvalidInput([Problem(f"-m {self._name}", f"can't be found: {error}")]) from error
        finally:
            sys.path.remove(self.folder)
        if spec is None or not hasattr(spec.loader, "get_code"):
            raise InvalidInput([Problem(f"-m {self._name}", "no such module; name one that `python -m` would run")])
        return spec

    def code(self) -> CodeType:
        code: CodeType = self._loader.get_code(self._spec.name)
        return code

    def source(self) -> str:
        source: str | None = self._loader.get_source(self._spec.name)
        if source is None:
            raise InvalidInput([Problem(f"-m {self._name}", "has no source, so nothing in it can be compiled")])
        return source

    def is_called(self, where: str) -> bool:
        return where in ("__main__", self._name, self._spec.name) or Path(where).resolve() == Path(self.file).resolve()


def _empty_main(**names: Any) -> ModuleType:
    module = ModuleType("__main__")
    vars(module).update(__builtins__=builtins, __annotations__={}, **names)
    return module


def keep_stdout(*, alone: bool) -> FileIO:
    """A file that writes to standard output, even if the program replaces or closes sys.stdout.

    With `alone`, only this file writes there: output of the program, its C code and its children goes to standard
    error. That stays so until the process ends, because a thread or an `atexit` handler may print later.
    """
    flush_stdout()
    kept = FileIO(os.dup(1), "wb")  # unbuffered: Python would flush a buffer once more when it ends
    if alone:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
    return kept


def write_stdout(kept: FileIO, text: str) -> None:
    """Write the whole text. Raises WriteFailed if that fails, for example on a full disk."""
    left = memoryview(text.encode("utf-8", "backslashreplace"))
    try:
        while left:
            left = left[kept.write(left) :]
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WriteFailed(f"standard output: {error.strerror}; name a file with --out") from error


def flush_stdout() -> None:
    """Flush Python's buffer, and that of C code, which would otherwise be written after everything else."""
    sys.stdout.flush()
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)


def usable(stream: TextIO) -> TextIO:
    """The stream after a flush. If the program or the reader has closed it, a stream that drops everything."""
    try:
        stream.flush()
    except (OSError, ValueError):
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - closed at exit
        atexit.register(nowhere.close)
        return nowhere
    return stream
