"""The folder that is handed over. What somebody else put there, or changed there, is never overwritten."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput, Problem, WriteFailed

KIND = "handover"
SCHEMA = 1
MARKER = "handover.json"
"""Names every file of the handover with a hash: by it the next one knows what it may replace."""


def check_folder(folder: Path) -> None:
    """InvalidInput, with one line per problem, if a handover can't be written there. Ask before a program is run."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InvalidInput([Problem(str(folder), "is a file; name a folder that is new or empty")])
    if not any(folder.iterdir()):
        return
    earlier = _earlier_files(folder)
    if earlier is None:
        raise InvalidInput(
            [Problem(str(folder), "is not empty and holds no earlier handover; name a folder that is new or empty")]
        )
    if changed := [name for name, digest in earlier.items() if _is_changed(folder / name, digest)]:
        raise InvalidInput(
            [Problem(str(folder / name), "was changed since it was handed over; move it away") for name in changed]
        )


def write_files(folder: Path, files: Mapping[str, bytes], document: Mapping[str, Any]) -> None:
    """Write the handover in place of an earlier one. `document` goes into the marker, which is written last."""
    check_folder(folder)
    earlier = _earlier_files(folder) or {}
    mine = [name for name in files if name not in earlier and (folder / name).exists()]
    if mine:
        told = "is in the way of a file of the handover; move it away"
        raise InvalidInput([Problem(str(folder / name), told) for name in mine])
    marker = {
        **document,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    }
    try:
        for name in earlier.keys() - files.keys():
            (folder / name).unlink(missing_ok=True)
        for name, content in files.items():
            _write(folder / name, content)
        _write(folder / MARKER, encoded(json.dumps(marker, indent=2, ensure_ascii=False) + "\n"))
    except OSError as error:
        raise WriteFailed(f"{folder}: {error.strerror}; make room, or name another folder") from error


def _earlier_files(folder: Path) -> dict[str, str] | None:
    """Name and hash of what an earlier handover wrote; None if there is none."""
    try:
        content = json.loads((folder / MARKER).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    files = content.get("files") if isinstance(content, dict) and content.get("kind") == KIND else None
    if not isinstance(files, dict):
        return None
    # A name that leads out of the folder is nothing that was ever written by this.
    return {name: str(digest) for name, digest in files.items() if ".." not in Path(name).parts and name[:1] != "/"}


def _is_changed(path: Path, digest: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() != digest
    except FileNotFoundError:
        return False
    except OSError:
        return True


def encoded(text: str) -> bytes:
    """UTF-8, whatever a program or a log had in it."""
    return text.encode("utf-8", "backslashreplace")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, path)  # noqa: PTH105 - as in one step
    finally:
        unfinished.unlink(missing_ok=True)
