"""What was seen of a program: its break sites, and what it all cost. No torch here: a saved report is read anywhere."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repro_runner.capture.breaks import UserFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class Recompile:
    """A frame that was compiled again, and the guard that failed, in torch's words."""

    function: str
    file: str
    line: int
    """Where the function starts; of the rest of a function after a break, the line of the break."""
    guard: str
    compile_id: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency:
    """How often a site broke the graph while the program ran; `why_unknown` says why nobody could count."""

    ran: int | None
    why_unknown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One line of somebody's code at which graphs break, whatever frames were being compiled."""

    file: str
    line: int
    function: str
    source: str
    columns: tuple[tuple[int, int], ...] = ()
    """From where to where, in UTF-8 bytes of the whole line, the expressions stand that break; empty where nobody
    knows. One that goes on in later lines ends at a column of its last."""
    gb_ids: tuple[str, ...]
    """The cause first, then what it surfaced as: a break in a loop is GB0025, GB7000."""
    gb_types: tuple[str, ...]
    """The type of each id."""
    kind: str
    """The worst that came of it: fatal, frame skipped or resumed."""
    message: str
    """As torch put it, of the cause."""
    context: str
    explanation: str
    hints: tuple[str, ...]
    stack: tuple[UserFrame, ...]
    """From the outermost frame that was being compiled to the site, at its first break."""
    compiled: int
    """In how many compilations of a frame the graph broke here."""
    frequency: Frequency
    ops_before: int | None = None
    """Ops in the graph that ends here, in its newest compilation; None where there is none."""
    ops_after: int | None = None
    """Ops in the first graph that begins after it."""
    recompiles: tuple[Recompile, ...] = ()
    """Of the frames that break here, and of what follows the break."""
    lost_seconds: float = 0.0
    """Compilation that would not have been without this break: attempts thrown away, frames that resume after it."""
    compile_ids: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"


def located(file: str, folder: Path) -> Path:
    """Where a site's file is; a log may name it relative to where the program was started."""
    return Path(os.path.normpath(folder / file))


def in_package(path: Path) -> str:
    """`transformers/models/led.py` of a file that was installed, wherever that is; empty for any other."""
    parts = path.parts
    inside = parts[len(parts) - parts[::-1].index("site-packages") :] if "site-packages" in parts else ()
    return "/".join(inside)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Of the whole program."""

    graphs: int = 0
    ops: int = 0
    frames: int = 0
    """Functions, and rests of functions, that Dynamo compiled at least once."""
    compilations: int = 0
    compile_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What was run, and how it ended."""

    name: str = ""
    """The script or module, as it was given; empty for a block of Python."""
    arguments: tuple[str, ...] = ()
    exit_code: int | None = None
    error: str = ""
    """What it raised: class and message; empty when it ran to its end."""


@dataclass(slots=True, kw_only=True, repr=False)
class Report:
    """All of it; filled when the block ends. Sites are sorted by cost, the dearest first."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """As in an evidence file: torch, python, device, platform, date, project."""
    program: Program = Program()
    sites: tuple[Site, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    """All of the program's, those at sites included."""
    totals: Totals = Totals()

    def __iter__(self) -> Iterator[Site]:
        return iter(self.sites)

    def __len__(self) -> int:
        return len(self.sites)

    def __repr__(self) -> str:
        from repro_runner.explain.render.short import short_text

        return short_text(self)

    def text(self, *, width: int = 80) -> str:
        """All of it as plain text, as `graphbreak explain` prints it."""
        from repro_runner.explain.render.found import Found
        from repro_runner.explain.render.rendering import Wishes, read_and_render
        from repro_runner.explain.render.terminal import Screen

        return read_and_render(Found(report=self), Wishes(screen=Screen(width=width)))

    def _repr_html_(self) -> str:
        from repro_runner.explain.render.found import Found
        from repro_runner.explain.render.page import render_notebook
        from repro_runner.explain.render.rendering import Wishes, view_of

        return render_notebook(view_of(Found(report=self), Wishes()))

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """What a notebook shows, and what it falls back to."""
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}
