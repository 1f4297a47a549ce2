"""Inductor, watched: the graphs that it is about to lower, its IR, and the code that it generates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from torch.fx import Graph, GraphModule

from repro_runner.backends.graph_dumps import KeptGraph, harmless
from repro_runner.graphs.traced import RecordingPartitioner, TracedGraph, before_first_run
from repro_runner.torch_seams import (
    CustomPartitionerFn,
    DebugContext,
    compile_fx,
    functorch_config,
    inductor_config,
    min_cut_rematerialization_partition,
)

_UNCACHED = {"fx_graph_cache": False, "fx_graph_remote_cache": False}


def compile_with_inductor(
    graph: GraphModule,
    inputs: Sequence[Any],
    traced: Callable[[TracedGraph], KeptGraph | None],
    before_backward: Callable[[], None],
) -> Callable[..., Any]:
    """Compile as backend="inductor" does. `traced` is called with the graphs before any of them is lowered; if it
    returns a folder, IR and code are kept there. Inductor replaces patterns only after that: the ops which this
    makes are not the program's, and have no source line. `before_backward` is called when the backward is about to run
    first: before it is lowered, unless AOTAutograd has it lowered with the forward."""
    as_configured = {name: getattr(inductor_config, name) for name in ("custom_partitioner_fn", "pattern_matcher")}
    cut = RecordingPartitioner(inductor_config.custom_partitioner_fn or min_cut_rematerialization_partition)
    pre_aot = _copy_graph(graph)
    kept: KeptGraph | None = None
    with_forward = True

    def lower(part: GraphModule, part_inputs: Sequence[Any], **keywords: Any) -> Any:
        """Called for the forward, and for the backward with it or when that runs first."""
        nonlocal kept
        if not keywords.get("is_backward"):
            kept = traced(TracedGraph(pre_aot=pre_aot, forward=part, backward=cut.backward))
            return lower_part("forward", part, part_inputs, **keywords)
        if with_forward:
            return before_first_run(lower_part("backward", part, part_inputs, **keywords), before_backward)
        before_backward()
        return lower_part("backward", part, part_inputs, **keywords)

    def lower_part(name: str, part: GraphModule, part_inputs: Sequence[Any], **keywords: Any) -> Any:
        with inductor_config.patch(as_configured):
            if kept is None:
                return compile_fx.compile_fx_inner(part, part_inputs, **keywords)
            files: dict[str, str] = {}
            # Compiled kernels still come from their cache; but a graph from Inductor's cache has no IR. No other
            # thread compiles meanwhile: Dynamo's lock is held, by Inductor itself for a backward.
            with (
                inductor_config.patch(_UNCACHED),
                mock.patch.object(compile_fx, "DebugContext", partial(_Watch, files)),
            ):
                compiled = compile_fx.compile_fx_inner(part, part_inputs, **keywords)
        kept.keep_lowered(name, files)
        return compiled

    watched = {"custom_partitioner_fn": _Partitioner(cut), "pattern_matcher": False}
    # From AOTAutograd's cache a graph would come compiled, and `lower` would not be called.
    with functorch_config.patch(enable_autograd_cache=False), inductor_config.patch(watched):
        compiled: Any = compile_fx.compile_fx(graph, inputs, inner_compile=lower)
    with_forward = False
    return compiled  # type: ignore[no-any-return]


def _copy_graph(graph: GraphModule) -> GraphModule:
    """A copy with the same nodes: Inductor changes the graph that it is given."""
    copy = Graph()
    copy.output(copy.graph_copy(graph.graph, {}))
    return GraphModule(graph, copy)


class _Partitioner(CustomPartitionerFn):  # type: ignore[misc]
    """The partitioner in the form that Inductor takes."""

    def __init__(self, cut: RecordingPartitioner) -> None:
        self._cut = cut

    def __call__(
        self, gm: GraphModule, joint_inputs: Sequence[object], **kwargs: Any
    ) -> tuple[GraphModule, GraphModule]:
        return self._cut(gm, joint_inputs, **kwargs)

    def uuid(self) -> None:
        """Only a cache needs one."""


class _Watch(DebugContext):  # type: ignore[misc]
    """Collects as text what Inductor reports to its debug context: in memory, so that no full disk can stop it."""

    def __init__(self, files: dict[str, str]) -> None:
        super().__init__()
        self._files = files

    def ir_pre_fusion(self, nodes: Any) -> None:
        self._add_ir("ir_pre_fusion", nodes)

    def ir_post_fusion(self, nodes: Any) -> None:
        self._add_ir("ir_post_fusion", nodes)

    def output_code(self, filename: str, extension: str = "py") -> None:
        with harmless():
            self._files[f"output_code.{extension}"] = Path(filename).read_text("utf-8")
        self._pass_on("output_code", filename, extension)

    def _add_ir(self, stage: str, nodes: Any) -> None:
        """Append: the IR of a region inside the graph comes after that of the graph."""
        with harmless():
            text = "".join(f"{node.debug_str()}\n\n" for node in nodes)
            self._files[f"{stage}.txt"] = self._files.get(f"{stage}.txt", "") + text
        self._pass_on(stage, nodes)

    def _pass_on(self, event: str, *arguments: Any) -> None:
        """Pass the event on to torch's own debug context, so that TORCH_COMPILE_DEBUG=1 still works."""
        listener = self.__getattr__(event)
        if listener is not None:
            listener(*arguments)
