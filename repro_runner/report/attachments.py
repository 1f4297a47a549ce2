"""Files of a run that a report carries inside: texts and drawings, none so large that it could not be opened."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from repro_runner.runs import RunFolder

LARGEST_FILE = 400_000
LARGEST_TOTAL = 8_000_000
"""Bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file of the run. One that is too large is named, and stays where it is."""

    name: str
    size: int
    content: bytes | None

    @property
    def text(self) -> str:
        return "" if self.content is None else self.content.decode("utf-8", "replace")

    @property
    def address(self) -> str:
        """Of a drawing. As a picture, and not as part of the page, it can neither run a script nor style the page."""
        coded = base64.b64encode(self.content or b"").decode("ascii")
        return f"data:image/svg+xml;base64,{coded}"


class Attachments:
    """Reads files until there are enough."""

    def __init__(self, run: RunFolder, total: int = LARGEST_TOTAL) -> None:
        self._run = run
        self._left = total

    def read(self, name: str) -> Attachment | None:
        """None if the run has no such file: a name, or a link, that leads out of the run is none of its files."""
        path = self._run.path / name
        home = self._run.path.resolve()
        if not path.is_file() or not path.resolve().is_relative_to(home):
            return None
        size = path.stat().st_size
        if size > min(LARGEST_FILE, self._left):
            return Attachment(name=name, size=size, content=None)
        self._left -= size
        return Attachment(name=name, size=size, content=path.read_bytes())
