"""Compare what a backend computes with what it should, and find the first op that differs."""

from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.difference import FirstDifference
from repro_runner.diff.harness import KernelDiffHarness, diff_model
from repro_runner.diff.report import DiffReport
from repro_runner.diff.tensors import TensorComparison, compare_tensors

__all__ = [
    "ComparisonConfig",
    "DiffReport",
    "FirstDifference",
    "KernelDiffHarness",
    "TensorComparison",
    "compare_tensors",
    "diff_model",
]
