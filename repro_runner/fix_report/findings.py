"""What a fix report is about, whoever found it: a run of a program, or a log. No torch here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from repro_runner.capture.breaks import KINDS
from repro_runner.output.places import in_library, shown_place
from repro_runner.output.units import size

if TYPE_CHECKING:
    from repro_runner.explain.program import ProgramToRun
