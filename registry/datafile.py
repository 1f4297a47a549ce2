"""Read one of our own data files; what can't be read is a problem with a remedy, not a traceback."""

from __future__ import annotations

from pathlib import Path

from registry.errors import InvalidInput, Problem


def read_data_file(path: Path) -> str:
    """Return the text of a file under registry/; InvalidInput if it is missing, unreadable or not UTF-8."""
    try:
        raw = path.read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        raise InvalidInput([Problem(f"{shown(path)}:1", f"{error.strerror}; `git checkout` brings it back")]) from error
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InvalidInput([Problem(f"{shown(path)}:{line}", "not UTF-8; save the file as UTF-8")]) from error


def shown(path: Path) -> str:
    """The path from the root of the checkout: registry/releases/2.15.0.json."""
    parts = path.parts
    return "/".join(parts[len(parts) - 1 - parts[::-1].index("registry") :]) if "registry" in parts else path.name
