"""Read and write our own data files; what the disk refuses is a problem with a remedy, not a traceback."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from registry.errors import InvalidInput, Problem, WriteFailed

DATA = Path(__file__).parent
"""The data in the package. It can be imported without YAML: `graphbreak run` works where there is nothing but torch."""


def read_data_file(path: Path) -> str:
    """Return the text of a file under registry/; InvalidInput if it is missing, unreadable or not UTF-8."""
    try:
        raw = path.read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        remedy = "; `git checkout` brings it back" if "registry" in path.parts else "; name another file"
        raise InvalidInput([Problem(f"{shown(path)}:1", f"{error.strerror}{remedy}")]) from error
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InvalidInput([Problem(f"{shown(path)}:{line}", "not UTF-8; save the file as UTF-8")]) from error


def write_data_file(path: Path, text: str) -> None:
    """Write a file whole or not at all; WriteFailed says what the disk did not like."""
    try:
        write_whole(path, text.encode("utf-8"))
    except OSError as error:
        raise WriteFailed(f"{path}: {error.strerror}; name another file") from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step: others see the old content or the new, never a part. OSError if the disk refuses."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)  # a pipe, or /dev/null, which must not become a file
        return
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def check_writable(path: Path) -> None:
    """Say so before hours of work if a file could not be written: WriteFailed."""
    if not path.parent.is_dir():
        raise WriteFailed(f"{path}: no such folder; make it, or name another file")
    if not os.access(path.parent, os.W_OK):
        raise WriteFailed(f"{path}: the folder can't be written to; name another file")


def shown(path: Path) -> str:
    """The path from the root of the checkout: registry/releases/2.15.0.json."""
    parts = path.parts
    return "/".join(parts[len(parts) - 1 - parts[::-1].index("registry") :]) if "registry" in parts else path.name
