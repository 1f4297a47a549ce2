"""Name every graph break in this process: `with capture_breaks() as breaks:`. Needs torch and the standard library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from repro_runner.capture.breaks import CapturedBreak, UserFrame

if TYPE_CHECKING:
    from repro_runner.capture.recorder import capture_breaks

__all__ = ["CapturedBreak", "UserFrame", "capture_breaks"]


def __getattr__(name: str) -> Any:
    # Imported on first use: it imports torch, and captured breaks are also read where torch is not installed.
    if name != "capture_breaks":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from repro_runner.capture.recorder import capture_breaks

    return capture_breaks
