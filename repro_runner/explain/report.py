"""A report that shows itself. No torch here: a saved report is read and shown anywhere."""

from __future__ import annotations

from dataclasses import dataclass

from repro_runner.explain.render.sentences import short_text
from repro_runner.explain.site import Observed


@dataclass(slots=True, kw_only=True, repr=False)
class Report(Observed):
    """What was seen, for the person who asked: as text, and in a notebook. It is filled when the block ends."""

    def __repr__(self) -> str:
        return short_text(self)

    def text(self, *, width: int = 80) -> str:
        """All of it as plain text, as `graphbreak explain` prints it."""
        from repro_runner.explain.render.formats import Wishes, read_and_render
        from repro_runner.explain.render.terminal import Screen
        from repro_runner.explain.render.view import Outcome

        return read_and_render(Outcome(report=self), Wishes(screen=Screen(width=width)))

    def _repr_html_(self) -> str:
        from repro_runner.explain.render.formats import Wishes, read_view, render_notebook
        from repro_runner.explain.render.view import Outcome

        return render_notebook(read_view(Outcome(report=self), Wishes()))

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """What a notebook shows, and what it falls back to."""
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}
