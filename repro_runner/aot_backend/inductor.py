"""Inductor, watched: the graphs that it is about to lower, its IR, and the code that it generates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from torch.fx import Graph, GraphModule

from repro_runner.backends.graph_dumps import KeptGraph, harmless
from repro_runner.graphs.traced import Cut, TracedGraph
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
    graph: GraphModule, inputs: Sequence[Any], traced: Callable[[TracedGraph], KeptGraph | None]
) -> Callable[..., Any]:
    """Compile as backend="inductor" does. What the graph became is handed to `traced` before any of it is lowered;
    where that answers with a folder, IR and code are kept there. Inductor's replacement of patterns is put off until
    then: its ops are not the program's, and have no line of it."""
    as_configured = {name: getattr(inductor_config, name) for name in ("custom_partitioner_fn", "pattern_matcher")}
    cut = Cut(inductor_config.custom_partitioner_fn or min_cut_rematerialization_partition)
    pre_aot = _copied(graph)
    kept: KeptGraph | None = None

    def lower(part: GraphModule, part_inputs: Sequence[Any], **keywords: Any) -> Any:
        """Called for the forward, and for the backward when that runs first."""
        nonlocal kept
        is_backward = bool(keywords.get("is_backward"))
        if not is_backward:
            kept = traced(TracedGraph(pre_aot=pre_aot, forward=part, backward=cut.backward))
        with inductor_config.patch(as_configured):
            if kept is None:
                return compile_fx.compile_fx_inner(part, part_inputs, **keywords)
            files: dict[str, str] = {}
            # Compiled kernels are found again all the same; but a graph from Inductor's cache was never IR. No other
            # thread compiles meanwhile: Dynamo's lock is held, by Inductor itself for a backward.
            with (
                inductor_config.patch(_UNCACHED),
                mock.patch.object(compile_fx, "DebugContext", partial(_Watch, files)),
            ):
                compiled = compile_fx.compile_fx_inner(part, part_inputs, **keywords)
        kept.keep_lowered("backward" if is_backward else "forward", files)
        return compiled

    watched = {"custom_partitioner_fn": _Partitioner(cut), "pattern_matcher": False}
    # From AOTAutograd's cache a graph would come compiled, and `lower` would not be called.
    with functorch_config.patch(enable_autograd_cache=False), inductor_config.patch(watched):
        compiled: Any = compile_fx.compile_fx(graph, inputs, inner_compile=lower)
    return compiled  # type: ignore[no-any-return]


def _copied(graph: GraphModule) -> GraphModule:
    """The same nodes in a graph of its own: Inductor changes the one that it is given."""
    copy = Graph()
    copy.output(copy.graph_copy(graph.graph, {}))
    return GraphModule(graph, copy)


class _Partitioner(CustomPartitionerFn):  # type: ignore[misc]
    """A cut in the form in which Inductor takes one."""

    def __init__(self, cut: Cut) -> None:
        self._cut = cut

    def __call__(
        self, gm: GraphModule, joint_inputs: Sequence[object], **kwargs: Any
    ) -> tuple[GraphModule, GraphModule]:
        return self._cut(gm, joint_inputs, **kwargs)

    def uuid(self) -> None:
        """Only a cache would ask."""


class _Watch(DebugContext):  # type: ignore[misc]
    """What Inductor tells a debugger of one graph, as text: in memory, so that no full disk can stop it."""

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
        self._tell("output_code", filename, extension)

    def _add_ir(self, stage: str, nodes: Any) -> None:
        """A region inside the graph has its own, and comes after it."""
        with harmless():
            text = "".join(f"{node.debug_str()}\n\n" for node in nodes)
            self._files[f"{stage}.txt"] = self._files.get(f"{stage}.txt", "") + text
        self._tell(stage, nodes)

    def _tell(self, event: str, *arguments: Any) -> None:
        """TORCH_COMPILE_DEBUG=1 still does what it does."""
        listener = self.__getattr__(event)
        if listener is not None:
            listener(*arguments)
