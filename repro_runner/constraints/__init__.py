"""The limits of a device, checked on the nodes of a graph of aten ops, or on a graph as a whole.

Every module in this folder is imported, so that a new limit is there as soon as its file is.
"""

import importlib
import pkgutil

from repro_runner.constraints.base import Constraint, GraphConstraint, TensorConstraint, Violation
from repro_runner.constraints.checking import (
    find_backward_violations,
    find_violations,
    violation_record,
    violations_document,
)
from repro_runner.constraints.nodes import TracedTensor, op_name, source_line, traced_tensors
from repro_runner.constraints.operators import SupportedOpsConstraint, UnsupportedOpsConstraint
from repro_runner.constraints.peak_memory import LiveStorage, PeakMemory, PeakMemoryConstraint, estimate_peak
from repro_runner.constraints.tensors import (
    DtypeConstraint,
    LayoutConstraint,
    MemoryConstraint,
    ShapeConstraint,
    StaticShapesConstraint,
)

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

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
    "StaticShapesConstraint",
    "SupportedOpsConstraint",
    "TensorConstraint",
    "TracedTensor",
    "UnsupportedOpsConstraint",
    "Violation",
    "estimate_peak",
    "find_backward_violations",
    "find_violations",
    "op_name",
    "source_line",
    "traced_tensors",
    "violation_record",
    "violations_document",
]
