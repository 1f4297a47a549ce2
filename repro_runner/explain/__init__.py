"""Report the breaks of a program: `with explain() as report:`. Where they are, how often they ran, how to fix them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repro_runner.explain.report import Report
from repro_runner.explain.site import Frequency, Program, Recompile, Site, Totals

if TYPE_CHECKING:
    from repro_runner.explain.watching import explain

__all__ = ["Frequency", "Program", "Recompile", "Report", "Site", "Totals", "explain"]


def __getattr__(name: str) -> Any:
    # Imported on first use: it imports torch, and a saved report is also read and shown where torch is not installed.
    if name != "explain":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from repro_runner.explain.watching import explain

    return explain
