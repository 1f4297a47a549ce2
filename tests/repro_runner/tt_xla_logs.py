"""Logs as tt-xla writes them, made from the described form of real ones: there is no device here to record any.

The same arguments give the same bytes. Logs of different dates have 6 to 9 stages per graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

STAGES = {
    9: (
        *("vhlo", "shlo", "shlo_frontend", "shlo_compiler", "shlo_set_mesh_attr", "shlo_compiler_cleaned"),
        *("ttir", "ttnn", "ttnn_runtime"),
    ),
    8: ("vhlo", "shlo", "shlo_frontend", "shlo_compiler", "shlo_set_mesh_attr", "ttir", "ttnn", "ttnn_runtime"),
    7: ("vhlo", "shlo", "shlo_frontend", "shlo_compiler", "shlo_set_mesh_attr", "ttir", "ttnn"),
    6: ("vhlo", "shlo", "shlo_frontend", "shlo_compiler", "ttir", "ttnn"),
}
OLD = {
    "vhlo": "VHLO Module:",
    "shlo": "SHLO Module:",
    "shlo_frontend": "SHLO Module after frontend StableHLO pipeline:",
    "shlo_compiler": "SHLO Module after compiler StableHLO pipeline:",
    "ttir": "TTIR Module:",
    "ttnn": "TTNN Module:",
}
END = "------------------ END OF MLIR MODULE ------------------"
THREAD = "8C291140"
MODEL = "/home/user/project/model.py"
DYNAMO = "{level}0514 11:30:41.{number:06} 4711 torch/_dynamo/{file}:{line}] [{frame}] {text}"


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """One graph that the compiler is given."""

    stages: Sequence[str] = STAGES[9]
    lines: Sequence[int] = (12, 12, 14)
    """Of the model, one per operation."""
    function: str = "forward"
    failure: str = ""
    """What the compiler says when it gives up after the last stage."""
    thread: str = THREAD
    operations: int = 3


def header(text: str, *, level: str = "1", thread: str = THREAD, second: float = 42.536) -> str:
    """A line of tt-xla's logger."""
    where = "module_builder.cc:1279"
    return f"2026-05-14 11:30:{second:06.3f} ({second - 40:8.3f}s) [{thread:>16}] {where:>27}  {level:>4}| {text}"


def stage_header(stage: str, *, old: bool = False, thread: str = THREAD) -> str:
    return header(OLD[stage] if old else f"MLIR Module {stage}:", thread=thread)


def module(graph: Compiled, stage: str, *, locations: bool) -> Iterator[str]:
    """The text of one stage; with locations in the form that tt-xla gives torch_xla."""
    dialect = stage.partition("_")[0].replace("shlo", "stablehlo")
    yield "module @SyncTensorsGraph.12 attributes {mhlo.cross_program_prefetches = [], mhlo.is_dynamic = false} {"
    yield "  func.func @main(%arg0: tensor<32x768xbf16>, %arg1: tensor<32x768xbf16>) -> tensor<32x768xbf16> {"
    for number in range(graph.operations):
        operands = f"%{number}, %arg1 : tensor<32x768xbf16>"
        yield f"    %{number + 1} = {dialect}.add {operands} loc(#loc{number})"
    yield f"    return %{graph.operations} : tensor<32x768xbf16> loc(#loc)"
    yield "  } loc(#loc)"
    yield "} loc(#loc)"
    for number in range(graph.operations):
        line = graph.lines[number % len(graph.lines)]
        place = f"{number}|Net[net]|Linear[net.fc]|{MODEL}:10|{graph.function}|{line}|aten__add"
        yield f'#loc{number} = loc("{place if locations else f"add.{number}"}")'


def compiling(graph: Compiled, *, old: bool = False, locations: bool = True) -> Iterator[str]:
    """All stages of a graph, then the error it ended with."""
    for stage in graph.stages:
        yield stage_header(stage, old=old, thread=graph.thread)
        yield from module(graph, stage, locations=locations)
        yield END
    if graph.failure:
        yield f'loc("reshape.59"): error: {graph.failure}'
        yield header("Failed to convert from SHLO to TTIR module", level="ERR", thread=graph.thread)


def tracing(function: str = "forward", line: int = 10, frame: str = "0/0", *, hands_over: bool = True) -> Iterator[str]:
    """What +dynamo prints of one frame."""
    start = f"Step 1: torchdynamo start tracing {function} {MODEL}:{line}"
    yield DYNAMO.format(level="I", number=1, file="symbolic_convert.py", line=5335, frame=frame, text=start)
    yield DYNAMO.format(
        level="V",
        number=2,
        file="symbolic_convert.py",
        line=1600,
        frame=frame,
        text=f"[__trace_source] TRACE starts_line {MODEL}:{line} in {function}",
    )
    if hands_over:
        text = "Step 2: calling compiler function tt"
        yield DYNAMO.format(level="I", number=3, file="output_graph.py", line=3116, frame=frame, text=text)


def breaking(line: int = 13, frame: str = "0/0") -> Iterator[str]:
    """The report of a break, as torch 2.13 prints it."""
    for text in (
        f"Graph break in user code at {MODEL}:{line}",
        "Graph Break Reason: Data-dependent branching",
        "  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Dynamo does not support "
        "tracing dynamic control flow.",
        "  Hint: Use `torch.cond` to express dynamic control flow.",
        "",
        "  Developer debug context: attempted to jump with TensorVariable()",
        "",
        " For more details about this graph break, please visit: "
        "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html",
        "",
        "User code traceback:",
        f'  File "{MODEL}", line {line}, in forward',
        "    if x.sum() > 0:",
    ):
        yield DYNAMO.format(
            level="V", number=9, file="symbolic_convert.py", line=5124, frame=frame, text=f"[__graph_breaks] {text}"
        )


def interleaved(*logs: Sequence[str]) -> Iterator[str]:
    """Lines of several threads, one of each in turn."""
    for number in range(max(map(len, logs))):
        for log in logs:
            if number < len(log):
                yield log[number]


def as_bytes(lines: Iterator[str] | Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def big_module(size: int) -> bytes:
    """About so many bytes of one stage's text, for measuring."""
    graph = Compiled(operations=max(1, size // 190), lines=range(10, 400))
    return as_bytes(module(graph, "shlo", locations=True))
