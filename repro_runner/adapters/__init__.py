"""Descriptions of devices: what they can do, what they lack, and how a model runs on them nevertheless."""

from repro_runner.adapters.adapter import AcceleratorAdapter, IntegratedMockAdapter
from repro_runner.adapters.capabilities import AcceleratorCapabilities, OpRule
from repro_runner.adapters.capability_file import read_capabilities
from repro_runner.adapters.check import check_model, write_check
from repro_runner.adapters.check_result import CheckResult
from repro_runner.adapters.op_support import OpSupport
from repro_runner.adapters.partition import PartitionedGraph, partition_graph
from repro_runner.adapters.placement import Placement, Transfers
from repro_runner.constraints import StaticShapesConstraint, SupportedOpsConstraint

__all__ = [
    "AcceleratorAdapter",
    "AcceleratorCapabilities",
    "CheckResult",
    "IntegratedMockAdapter",
    "OpRule",
    "OpSupport",
    "PartitionedGraph",
    "Placement",
    "StaticShapesConstraint",
    "SupportedOpsConstraint",
    "Transfers",
    "check_model",
    "partition_graph",
    "read_capabilities",
    "write_check",
]
