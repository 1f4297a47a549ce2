"""The report that users see in Python and in notebooks. This module does not need torch."""

from __future__ import annotations

from dataclasses import dataclass

from repro_runner.explain.render.sentences import short_text
from repro_runner.explain.site import Observed


@dataclass(slots=True, kw_only=True, repr=False)
class Report(Observed):
    """The breaks of a program, shown as text or in a notebook. It is filled when the `explain()` block ends."""

    def __repr__(self) -> str:
        return short_text(self)

    def text(self, *, width: int = 80) -> str:
        """The whole report as plain text, as `graphbreak explain` prints it."""
        from repro_runner.explain.render.formats import Wishes, read_and_render
        from repro_runner.explain.render.terminal import Screen
        from repro_runner.explain.render.view import Outcome

        return read_and_render(Outcome(report=self), Wishes(screen=Screen(width=width)))

    def _repr_html_(self) -> str:
        from repro_runner.explain.render.formats import Wishes, read_view, render_notebook
        from repro_runner.explain.render.view import Outcome

        return render_notebook(read_view(Outcome(report=self), Wishes()))

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """The HTML that a notebook shows, and the text for a notebook that can't show HTML."""
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}
