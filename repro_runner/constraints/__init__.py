"""The limits of a device, checked on the nodes of a graph of aten ops, or on a graph as a whole."""

from repro_runner.constraints.base import Constraint, GraphConstraint, TensorConstraint, Violation
from repro_runner.constraints.checking import find_violations
from repro_runner.constraints.document import violation_record, violations_document
from repro_runner.constraints.liveness import LiveStorage, PeakMemory, estimate_peak
from repro_runner.constraints.nodes import TracedTensor, op_name, source_line, traced_tensors
from repro_runner.constraints.operators import UnsupportedOpsConstraint
from repro_runner.constraints.peak_memory import PeakMemoryConstraint
from repro_runner.constraints.tensors import DtypeConstraint, LayoutConstraint, MemoryConstraint, ShapeConstraint

__all__ = [
    "Constraint",
    "DtypeConstraint",
    "GraphConstraint",
    "LayoutConstraint",
    "LiveStorage",
    "MemoryConstraint",
    "PeakMemory",
    "PeakMemoryConstraint",
    "ShapeConstraint",
    "TensorConstraint",
    "TracedTensor",
    "UnsupportedOpsConstraint",
    "Violation",
    "estimate_peak",
    "find_violations",
    "op_name",
    "source_line",
    "traced_tensors",
    "violation_record",
    "violations_document",
]
