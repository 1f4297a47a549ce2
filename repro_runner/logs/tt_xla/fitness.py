"""How a tt-xla log was made, and which questions it is therefore not fit to answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from repro_runner.logs.model import Unfit

COMMAND = (
    "TTXLA_LOGGER_LEVEL=DEBUG TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG XLA_HLO_DEBUG=1 TORCH_LOGS=+dynamo "
    "python script.py > script.log 2>&1"
)
CHECK_BUILD = "grep CMAKE_BUILD_TYPE build/CMakeCache.txt"
BUILD = "cmake --preset debug && cmake --build build"


@dataclass(slots=True)
class MadeWith:
    """Settings that left a sign in the log; False means that there is none."""

    stages: bool = False
    debug_level: bool = False
    """Lines of tt-xla's own logger that are printed only with TTXLA_LOGGER_LEVEL=DEBUG."""
    runtime_level: bool = False
    dynamo: bool = False
    locations: bool = False

    def document(self) -> dict[str, bool]:
        return {
            "TTXLA_LOGGER_LEVEL=DEBUG": self.debug_level or self.stages,
            "TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG": self.runtime_level,
            "XLA_HLO_DEBUG=1": self.locations,
            "TORCH_LOGS=+dynamo": self.dynamo,
        }


def find_unfit(made: MadeWith) -> Iterator[Unfit]:
    """Each question that can't be answered from this log, and the command line that makes one which can."""
    if not made.stages:
        yield Unfit(
            question="how many graphs there are, and how far each came",
            why=f"it has no stage headers: {_why_no_stages(made)}",
            command=f"{BUILD} && {COMMAND}" if made.debug_level else COMMAND,
        )
    if not made.locations:
        yield Unfit(
            question="which lines of Python a graph comes from",
            why='it has no loc("file.py:line") markers: it was made without XLA_HLO_DEBUG=1',
            command=COMMAND,
        )
    if not made.dynamo:
        yield Unfit(
            question="which of Dynamo, torch_xla and export split the graph, and why Dynamo did",
            why="it has no lines of Dynamo's tracer: it was made without TORCH_LOGS=+dynamo",
            command=COMMAND,
        )


def _why_no_stages(made: MadeWith) -> str:
    if made.debug_level:
        return (
            "TTXLA_LOGGER_LEVEL was DEBUG, so tt-xla is a Release build, which prints none; "
            f"`{CHECK_BUILD}` must say Debug"
        )
    return (
        "TTXLA_LOGGER_LEVEL was not DEBUG, or tt-xla is a Release build, which prints none; "
        f"`{CHECK_BUILD}` must say Debug, else build with `{BUILD}`"
    )
