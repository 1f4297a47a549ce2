"""Make messages of two machines the same: no paths of this one, no addresses."""

from __future__ import annotations

import re
from pathlib import Path

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_PYTHON_LIBRARY = re.compile(r"[^\s\"']*/lib/python3\.\d+/(?:site-packages/)?")
_LONG_ID = re.compile(r"(?<=id=)\d{6,}|\b\d{12,}\b")


def normalise(text: str, folder: Path) -> str:
    """Replace the folder a repro ran in, installed packages' paths and object addresses."""
    for spelling in {str(folder), str(folder.resolve())}:
        text = text.replace(f"{spelling}/", "").replace(spelling, ".")
    text = _PYTHON_LIBRARY.sub("", text)
    return _LONG_ID.sub("...", _ADDRESS.sub("0x...", text)).strip()
