"""How much memory a model takes while it is called.

On CUDA it is the most that torch's allocator held, weights included. A CPU has no such count: there it is how far the
process's resident memory rose above what it was with the model made and never called, what the compiler keeps included.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

_PROCESS = Path("/proc/self")
_RESET_PEAK = "5"
"""What Linux wants written to clear_refs to forget the highest resident size there was."""


class PeakMemory:
    """Made before the first call of a model, asked after its last."""

    def __init__(self, device: str) -> None:
        self._cuda = device == "cuda"
        self._before = None if self._cuda else _resident("VmRSS")

    def of(self, call: Callable[[], Any]) -> int | None:
        """Bytes; None where the system does not tell."""
        if self._cuda:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            call()
            torch.cuda.synchronize()
            return torch.cuda.max_memory_allocated()
        try:
            (_PROCESS / "clear_refs").write_text(_RESET_PEAK)
        except OSError:
            return None
        call()
        peak = _resident("VmHWM")
        return None if peak is None or self._before is None else max(0, peak - self._before)


def _resident(field: str) -> int | None:
    try:
        status = (_PROCESS / "status").read_text()
    except OSError:
        return None
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None
