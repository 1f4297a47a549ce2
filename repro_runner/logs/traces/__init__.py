"""Structured traces (`TORCH_TRACE=folder`): what was compiled, where graphs broke, how ranks differ."""

from repro_runner.logs.traces.part import NAME, open_reader
from repro_runner.logs.traces.ranks import RankDifferences, describe_differences, find_rank_differences
from repro_runner.logs.traces.reading import recognise

__all__ = [
    "NAME",
    "RankDifferences",
    "describe_differences",
    "find_rank_differences",
    "open_reader",
    "recognise",
]
