"""Run changed text in place of a file's, under the file's own name; the file is not touched."""

from __future__ import annotations

import importlib.machinery
import linecache
import os
import types
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def substituted(changes: Mapping[str, str]) -> Iterator[None]:
    """Until the block ends, whoever runs, imports or quotes one of these files gets the text instead.

    No bytecode of the text is written, and none of the file's is used.
    """
    texts = {os.path.realpath(path): text for path, text in changes.items()}
    read_bytes, get_code = Path.read_bytes, importlib.machinery.SourceFileLoader.get_code

    def read_changed(path: Path) -> bytes:  # how a script is read before it runs
        text = texts.get(os.path.realpath(path))
        return read_bytes(path) if text is None else text.encode()

    def get_changed_code(loader: Any, fullname: str) -> types.CodeType | None:
        text = texts.get(os.path.realpath(loader.path))
        if text is None:
            return get_code(loader, fullname)
        _quote(loader.path, text)
        code: types.CodeType = compile(text, loader.path, "exec", dont_inherit=True)
        return code

    with ExitStack() as undo:
        undo.callback(setattr, Path, "read_bytes", read_bytes)
        undo.callback(setattr, importlib.machinery.SourceFileLoader, "get_code", get_code)
        Path.read_bytes = read_changed  # type: ignore[method-assign, assignment]
        importlib.machinery.SourceFileLoader.get_code = get_changed_code  # type: ignore[method-assign, assignment]
        for path, text in changes.items():
            for name in {path, os.path.abspath(path), os.path.realpath(path)}:  # noqa: PTH100 - not the link's target
                _quote(name, text)
        yield


def _quote(name: str, text: str) -> None:
    """Show the text's lines where the file is quoted; Python never looks again at an entry without a time."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
