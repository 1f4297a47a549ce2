"""A device as a backend of torch.compile: what it takes runs in parts on the device, the rest op by op on the host.

class MyDevice(AcceleratorAdapter):
    def get_capabilities(self):
        return read_capabilities("mine.yml")

    def compile(self, part, example_inputs):
        return my_compiler(part, example_inputs)

torch.compile(model, backend=MyDevice())
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule

from repro_runner.adapters.capabilities import AcceleratorCapabilities
from repro_runner.adapters.capability_file import read_capabilities
from repro_runner.adapters.op_support import Judge, OpSupport, list_op_support
from repro_runner.adapters.partition import PartitionedGraph, partition_graph
from repro_runner.backends.graph_check import GraphCheck
from repro_runner.backends.settings import arguments_given, read_settings
from repro_runner.constraints import Constraint
from repro_runner.graphs.traced import (
    Decompositions,
    RecordingPartitioner,
    TracedGraph,
    before_first_run,
    decomposition_table,
    run_eagerly,
)
from repro_runner.torch_seams import aot_autograd, default_partition

CompiledPart = Callable[..., Any]


class AcceleratorAdapter(ABC):
    """The base class for your own device. An instance is a backend: `torch.compile(model, backend=adapter)`."""

    decompositions: str | Decompositions = "none"
    """A table by name (none, core-aten, inductor), or your own mapping."""
    strict: bool = False
    """Refuse a program that the device does not take in full, as the mock backend does, and keep its graphs as that
    does; otherwise, ops fall back."""
    check_backward: bool | None = None
    """If strict: check the backward with the forward, not when it runs first. None: as MOCK_CHECK_BACKWARD says."""

    @abstractmethod
    def get_capabilities(self) -> AcceleratorCapabilities:
        """What the device can do."""

    def constraints(self) -> tuple[Constraint, ...]:
        """The device's limits; override it to add your own."""
        return self.get_capabilities().constraints()

    def compile(self, part: GraphModule, example_inputs: Sequence[Any]) -> CompiledPart:  # noqa: ARG002
        """Return a callable for a part of a graph of which the device takes every op. By default it runs eagerly.
        `example_inputs` are fake tensors: they have shapes, dtypes and strides, and no values."""
        return part

    def op_support(self, graphs: Sequence[TracedGraph]) -> tuple[OpSupport, ...]:
        """Every op of these graphs (from `trace_model`): how often, where, whether it is taken, and why not."""
        return list_op_support(graphs, Judge(self.constraints()))

    def partition(self, graph: GraphModule) -> PartitionedGraph:
        """A copy of the graph in which what the device takes is in parts."""
        return partition_graph(graph, Judge(self.constraints()).takes)

    def backend(self, graph: GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        """What torch.compile calls."""
        cut = RecordingPartitioner(default_partition)
        check = self._check() if self.strict else None

        def lower_forward(forward: GraphModule, forward_inputs: Sequence[Any]) -> Callable[..., Any]:
            if check is not None:
                check.before_forward(TracedGraph(pre_aot=graph, forward=forward, backward=cut.backward))
            return self._lower(forward, forward_inputs)

        def lower_backward(backward: GraphModule, backward_inputs: Sequence[Any]) -> Callable[..., Any]:
            lowered = self._lower(backward, backward_inputs)
            return lowered if check is None else before_first_run(lowered, check.before_backward)

        table = self.decompositions
        compiled: Callable[..., Any] = aot_autograd(
            fw_compiler=lower_forward,
            bw_compiler=lower_backward,
            partition_fn=cut,
            decompositions=dict(decomposition_table(table) if isinstance(table, str) else table),
            keep_inference_input_mutations=True,
        )(graph, inputs)
        return compiled

    def __call__(self, graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> Callable[..., Any]:
        return self.backend(graph, inputs, **keywords)

    def _check(self) -> GraphCheck:
        given = arguments_given(strict=True, constraints=self.constraints(), check_backward=self.check_backward)
        name = self.get_capabilities().name
        return GraphCheck(read_settings(given), backend=name, decompositions=self.decompositions)

    def _lower(self, graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        partitioned = self.partition(graph)
        for name in partitioned.names:
            part = partitioned.module.get_submodule(name)
            assert isinstance(part, GraphModule)
            given = [node.meta.get("val") for node in part.graph.nodes if node.op == "placeholder"]
            partitioned.module.set_submodule(name, _Part(self.compile(part, given)))
        return run_eagerly(partitioned.module, inputs)


class IntegratedMockAdapter(AcceleratorAdapter):
    """A stand-in for a device of which only the capabilities are known: its parts run eagerly, like the rest.

    Without capabilities it has the limits that the environment sets for the mock backend.
    """

    def __init__(
        self,
        capabilities: AcceleratorCapabilities | None = None,
        *,
        strict: bool = False,
        check_backward: bool | None = None,
        decompositions: str | Decompositions = "none",
    ) -> None:
        self._capabilities = capabilities
        self.strict = strict
        self.check_backward = check_backward
        self.decompositions = decompositions

    @classmethod
    def from_file(cls, path: Path | str, **keywords: Any) -> IntegratedMockAdapter:
        """For a capability file; InvalidInput if there is something wrong with it."""
        return cls(read_capabilities(path), **keywords)

    def get_capabilities(self) -> AcceleratorCapabilities:
        return self._capabilities or AcceleratorCapabilities(name="mock")

    def constraints(self) -> tuple[Constraint, ...]:
        return super().constraints() if self._capabilities else read_settings({}).constraints


class _Part(torch.nn.Module):
    """A compiled part in the place of the graph that it was made from."""

    def __init__(self, compiled: CompiledPart) -> None:
        super().__init__()
        self._compiled = compiled

    def forward(self, *inputs: Any) -> Any:
        return self._compiled(*inputs)
