"""What minified scripts are made of: the program as source, its inputs, the rule that fired."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx import GraphModule, Node

from registry.errors import InvalidInput, WriteFailed
from repro_runner.adapters import SupportedOpsConstraint
from repro_runner.constraints import (
    Constraint,
    DtypeConstraint,
    LayoutConstraint,
    MemoryConstraint,
    PeakMemoryConstraint,
    ShapeConstraint,
    TensorConstraint,
    TracedTensor,
    UnsupportedOpsConstraint,
    Violation,
    estimate_peak,
    op_name,
)
from repro_runner.minifier import Failure, MinifiedProgram, Search, minified_document
from repro_runner.minifier.backend_failures import read_backend
from repro_runner.minifier.function_source import Unrenderable, as_function, operations, render_function
from repro_runner.minifier.graph_minifier import Candidate, GraphMinifier, to_aten
from repro_runner.minifier.own_rules import own_rules
from repro_runner.minifier.parts import report
from repro_runner.minifier.parts.backends import check_compilation, check_crash, check_numerics
from repro_runner.minifier.recipes import copy_of, drawn
from repro_runner.minifier.recording import RecordedGraph, record_graphs
from repro_runner.minifier.script import Check, header_lines
from repro_runner.minifier.script_runners import InProcess
from repro_runner.minifier.violations import all_violations, violation_checks
from repro_runner.model_under_test import ModelUnderTest

pytestmark = pytest.mark.torch

LOWEST_BIT = 1


def rotated(x: torch.Tensor, w: torch.Tensor, flags: torch.Tensor) -> Any:
    h = torch.nn.functional.linear(x, w).mT[..., 1:, None]
    with torch.no_grad():
        scale = h.abs().amax() + float("inf")
    with torch.autocast("cpu", torch.bfloat16):
        product = x @ w.t()
    h = torch.where(flags.any(), h, -h)
    h = torch.cond(h.sum() > 0, lambda x: (x + 1,), lambda x: (x - 1,), (h,))[0]
    h = h.to(torch.float64).contiguous()
    h += 1
    h[:, (0, 2)] = 0.5
    h.data.mul_(2)
    parts = h.chunk(2, dim=0)
    return parts[0] / scale, product, torch.arange(3, device=x.device) ** 2


def inputs_of_rotated() -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return torch.randn(4, 6, requires_grad=True), torch.randn(3, 6), torch.tensor([True, False])


@pytest.mark.parametrize("level", ["torch", "aten"])
def test_a_graph_written_as_a_function_computes_what_the_graph_does_and_dynamo_traces_it(level: str) -> None:
    recorded = record_graphs(ModelUnderTest(name="rotated", model=rotated, args=inputs_of_rotated())).graphs[0]
    graph, inputs = recorded.traced.pre_aot, list(recorded.inputs)
    if level == "aten":
        lowered = to_aten(graph, inputs)
        assert lowered is not None
        graph, inputs = lowered
    source = render_function(graph)
    assert not re.search(r"self\b(?!\()|GraphModule|eval_with_key", source.text)
    function = as_function(graph)
    for written in (function, torch.compile(function, backend="eager", fullgraph=True)):
        found = written(*map(copy_of, inputs))
        for expected, actual in zip(rotated(*inputs_of_rotated()), found, strict=True):
            torch.testing.assert_close(actual, expected)
    assert operations(graph) > 10


def test_a_write_that_is_returned_is_none() -> None:
    graph = torch.fx.Graph()
    graph.output((graph.call_function(operator.setitem, (graph.placeholder("x"), 0, 1.0)),))
    assert render_function(GraphModule({}, graph)).text.splitlines()[1:] == ["    x[0] = 1.0", "    return None"]


def refused_by_dynamo(x: torch.Tensor) -> torch.Tensor:
    torch._dynamo.graph_break()
    return x + 1


@pytest.mark.parametrize(
    "check",
    [
        partial(check_compilation, expected=""),
        partial(check_crash, expected="ended with exit code 1", seconds=60),
        check_numerics,
    ],
    ids=["compilation", "crash", "numerics"],
)
def test_what_dynamo_itself_refuses_is_no_failure_of_a_backend(check: Callable[..., tuple[int, str]]) -> None:
    judge = partial(check, refused_by_dynamo, lambda: (torch.ones(2),), lambda: "aot_eager")
    assert report(judge) == 3


def test_modes_are_blocks_and_names_are_short() -> None:
    layer = torch.nn.Sequential(torch.nn.Linear(4, 4))

    def program(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            y: torch.Tensor = layer(x)
        return y + 1

    recorded = record_graphs(ModelUnderTest(name="program", model=program, args=(torch.randn(2, 4),))).graphs[0]
    text = render_function(recorded.traced.pre_aot).text
    assert "    with torch.no_grad():\n        " in text
    assert text.splitlines()[-1].startswith("    return ")
    assert not re.search(r"L_|modules_|_set_grad_enabled", text)


def test_what_no_script_can_say_is_refused() -> None:
    graph = torch.fx.Graph()
    argument: Any = object()
    call = graph.call_function(as_function, (graph.placeholder("x"), argument))
    graph.output((call,))
    module = GraphModule(torch.nn.Module(), torch.fx.Graph())
    module._graph = graph  # the setter would write it as source, which can't be done either
    with pytest.raises(Unrenderable, match="class object"):
        render_function(module)


TENSORS: dict[str, Callable[[], torch.Tensor]] = {
    "plain": lambda: torch.randn(2, 3),
    "scalar": lambda: torch.randn(()),
    "empty": lambda: torch.randn(0, 3),
    "transposed": lambda: torch.randn(2, 3).t(),
    "sliced": lambda: torch.randn(4, 6)[1:3, ::2],
    "expanded": lambda: torch.randn(3, 1).expand(3, 4),
    "bfloat16": lambda: torch.randn(2, 3).bfloat16(),
    "float8": lambda: torch.randn(2, 3).to(torch.float8_e4m3fn),
    "complex": lambda: torch.randn(2, dtype=torch.complex64),
    "bool": lambda: torch.tensor([True, False]),
    "indices": lambda: torch.tensor([[3, 9], [7, 3]]),
    "uint16": lambda: torch.tensor([5, 7]).to(torch.uint16),
    "requires grad": lambda: torch.randn(2, 3, requires_grad=True),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2, 3)),
    "channels last": lambda: torch.randn(1, 2, 3, 4).to(memory_format=torch.channels_last),
}


@pytest.mark.parametrize("kind", TENSORS)
def test_a_drawn_tensor_is_like_the_one_it_stands_for(kind: str) -> None:
    tensor = TENSORS[kind]()
    for like in (eval(drawn(tensor)), copy_of(tensor)):
        assert (like.shape, like.dtype, like.stride()) == (tensor.shape, tensor.dtype, tensor.stride())
        assert like.requires_grad == tensor.requires_grad
        assert like.is_leaf
    assert torch.equal(copy_of(tensor).detach().to(torch.complex64), tensor.detach().to(torch.complex64))


def test_drawn_indices_stay_in_range_and_variances_stay_positive() -> None:
    assert drawn(torch.tensor([[3, 9], [7, 3]])) == "torch.randint(3, 10, (2, 2), dtype=torch.int64)"
    assert drawn(torch.ones(4)) == "torch.rand(4)"
    assert drawn(-torch.ones(4)) == "torch.randn(4)"


class NoOddSizes(TensorConstraint):
    """A rule of somebody's own, with a constant of its module and state of its own."""

    rule = "no-odd-sizes"

    def __init__(self, least: int) -> None:
        super().__init__()
        self.least = least

    def complaint(self, tensor: TracedTensor) -> str | None:
        odd = [size for size in tensor.sizes if size is not None and size & LOWEST_BIT and size >= self.least]
        return f"odd sizes {odd}" if odd else None


class NoViews(Constraint):
    rule = "no-views"

    def check(self, node: Node) -> Iterator[Violation]:
        if op_name(node).startswith(("aten.view.", "aten.t.")):
            yield self.violation(node, "this device has no views")


def layers(x: torch.Tensor, w: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    h = torch.nn.functional.layer_norm(x @ w.t(), (5,), g)
    h = torch.cond(h.sum() > 0, lambda h: (h.sin().expand(2, 4, 5),), lambda h: (h.cos().expand(2, 4, 5),), (h,))[0]
    return torch.softmax(torch.nn.functional.gelu(h).mT, -1).to(torch.bfloat16)


CONSTRAINTS: list[Constraint] = [
    ShapeConstraint(4),
    ShapeConstraint(4, dims=[-1, 3]),
    ShapeConstraint(8, unit="bytes"),
    ShapeConstraint(4, spare_ones=False),
    ShapeConstraint(4, dims=[0], ops=["mm"], arguments=["mat2", 0]),
    DtypeConstraint([torch.float32]),
    DtypeConstraint([]),
    MemoryConstraint(79),
    LayoutConstraint(),
    LayoutConstraint(["channels_last", "sparse_coo"]),
    UnsupportedOpsConstraint(["mm", "aten._softmax.default", "native_layer_norm_backward", "cond"]),
    SupportedOpsConstraint(["core-aten"]),
    NoOddSizes(5),
    NoViews(),
]


@pytest.fixture(scope="module")
def traced_layers() -> RecordedGraph:
    torch.manual_seed(0)
    given = (torch.randn(4, 6, requires_grad=True), torch.randn(5, 6, requires_grad=True), torch.ones(5))
    (recorded,) = record_graphs(ModelUnderTest(name="layers", model=layers, args=given)).graphs
    return recorded


def script_for(constraint: Constraint, graph: str, op: str, recorded: RecordedGraph) -> dict[str, Any]:
    """What a script about this op of this graph defines."""
    failure = Failure(kind="violation", summary="", rule=constraint.rule, op=op, graph=graph)
    check = next(violation_checks(failure, constraint))
    candidate = Candidate(graph=recorded.traced.pre_aot, inputs=recorded.inputs)
    names: dict[str, Any] = {"__name__": __name__}
    exec(GraphMinifier(check, InProcess(Path())).script(candidate).text, names)
    return names


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=lambda each: f"{each.rule}-{len(vars(each))}")
def test_a_scripts_rule_refuses_what_the_constraint_refuses_and_nothing_else(
    constraint: Constraint, traced_layers: RecordedGraph
) -> None:
    found = {(each.graph, each.op) for each in all_violations(traced_layers, constraint) if each.graph != "pre-aot"}
    assert found
    for graph, op in found:
        names = script_for(constraint, graph, op, traced_layers)
        for node in nodes_of(getattr(traced_layers.traced, graph)):
            if op_name(node) == op:
                expected = [each.message for each in constraint.check(node)]
                assert bool(list(names["complaints"](node))) == bool(expected), (node, expected)


@pytest.mark.parametrize("graph", ["forward", "backward"])
def test_a_script_estimates_the_same_peak(graph: str, traced_layers: RecordedGraph) -> None:
    names = script_for(PeakMemoryConstraint(1), graph, "", traced_layers)
    chosen = getattr(traced_layers.traced, graph)
    assert names["peak_bytes"](chosen, traced_layers.traced.forward) == estimate_peak(chosen).bytes


def test_a_script_can_be_about_the_graph_before_aot_autograd(traced_layers: RecordedGraph, tmp_path: Path) -> None:
    (found, *_) = [each for each in nodes_of(traced_layers.traced.pre_aot) if "layer_norm" in str(each.target)]
    failure = Failure(kind="violation", summary="", op=op_name(found), graph="pre-aot")
    whole = Candidate(graph=traced_layers.traced.pre_aot, inputs=traced_layers.inputs)
    for constraint, code in ((DtypeConstraint(["float64"]), 1), (DtypeConstraint(["float32"]), 0)):
        check = next(violation_checks(failure, constraint))
        assert GraphMinifier(check, InProcess(tmp_path)).outcome(whole).code == code


def nodes_of(graph: GraphModule) -> list[Node]:
    return [node for part in graph.modules() if isinstance(part, GraphModule) for node in part.graph.nodes]


def test_a_rule_of_ones_own_is_copied_or_else_imported_and_the_script_says_so() -> None:
    copied, imported = own_rules(NoOddSizes(5))
    assert copied.modules == ()
    assert "class NoOddSizes(TensorConstraint):" in copied.text
    assert "LOWEST_BIT = 1" in copied.text
    assert "'least': 5" in copied.text
    assert imported.modules == (__name__, "repro_runner")
    assert f"from {__name__} import NoOddSizes" in imported.text
    unwritable = NoOddSizes(5)
    unwritable.least = object()  # type: ignore[assignment]
    assert list(own_rules(unwritable)) == []


def test_a_program_is_written_with_its_tensors_beside_it_or_not_at_all(tmp_path: Path) -> None:
    program = MinifiedProgram(
        script="print(1)\n",
        failure=Failure(kind="numeric", summary="it differs"),
        confirmed=True,
        output="still fails: it differs",
        original_nodes=9,
        nodes=1,
        tensors={"x": torch.arange(3.0)},
    )
    program.write(tmp_path / "mine.py")
    assert (tmp_path / "mine.py").read_text("utf-8") == "print(1)\n"
    assert torch.equal(torch.load(tmp_path / "mine.pt", weights_only=True)["x"], torch.arange(3.0))
    document = minified_document(Search(program=program, tried={"numeric": "it differs"}))
    assert (document["script"], document["inputs"]) == ("minified/repro.py", "minified/repro.pt")
    with pytest.raises(WriteFailed, match="No such file or directory; name another file with --out"):
        program.write(tmp_path / "nowhere" / "mine.py")


@pytest.mark.parametrize(
    ("backend", "problem"),
    [
        ("indctor", "did you mean inductor"),
        ("no.such.module:backend", "No module named"),
        ("operator:no_such", "operator:no_such: no backend `no_such` in it"),
        (lambda graph, _inputs: graph, "another process can't import it"),
    ],
    ids=["misspelt", "no module", "no function", "a lambda"],
)
def test_a_backend_without_a_name_is_refused(backend: Any, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        read_backend(backend)


def test_a_script_counts_one_operation_as_one() -> None:
    failure, check = Failure(kind="numeric", summary=""), Check(parts=(), call="")
    assert header_lines("model", failure, check, "so", (1, 1), (1, 1))[2].startswith("1 of 1 operation of model. ")
    assert header_lines("model", failure, check, "so", (1, 3), (1, 1))[2].startswith("1 of 3 operations of model. ")


def test_a_backend_is_named_so_that_a_script_can_import_it() -> None:
    assert read_backend("aot_eager").code() == 'def backend():\n    return "aot_eager"'
    assert "from operator import itemgetter" in read_backend("operator:itemgetter").code()
    found = read_backend(drawn)
    assert (found.name, found.modules) == ("repro_runner.minifier.recipes:drawn", ("repro_runner.minifier.recipes",))
