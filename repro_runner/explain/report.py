"""What was seen of a program: its break sites, and what it all cost. No torch here: a saved report is read anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from repro_runner.explain.site import Recompile, Site


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
