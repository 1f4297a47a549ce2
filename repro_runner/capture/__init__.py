"""Name every graph break in this process: `with capture_breaks() as breaks:`. Needs torch and the standard library."""

from repro_runner.capture.breaks import CapturedBreak, UserFrame
from repro_runner.capture.recorder import capture_breaks

__all__ = ["CapturedBreak", "UserFrame", "capture_breaks"]
