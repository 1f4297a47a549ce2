"""The limits of a device, each checked on one node of a graph of aten ops at a time."""

from repro_runner.constraints.base import Constraint, TensorConstraint, Violation
from repro_runner.constraints.checking import find_violations
from repro_runner.constraints.nodes import TracedTensor, op_name, source_line, traced_tensors
from repro_runner.constraints.operators import UnsupportedOpsConstraint
from repro_runner.constraints.tensors import DtypeConstraint, LayoutConstraint, MemoryConstraint, ShapeConstraint

__all__ = [
    "Constraint",
    "DtypeConstraint",
    "LayoutConstraint",
    "MemoryConstraint",
    "ShapeConstraint",
    "TensorConstraint",
    "TracedTensor",
    "UnsupportedOpsConstraint",
    "Violation",
    "find_violations",
    "op_name",
    "source_line",
    "traced_tensors",
]
