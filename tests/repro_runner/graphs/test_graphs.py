"""A graph as a picture and in numbers."""

from __future__ import annotations

import operator
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from torch.fx import Graph, GraphModule

from repro_runner.constraints import UnsupportedOpsConstraint, find_violations
from repro_runner.graphs import drawing
from repro_runner.graphs.drawing import draw_graph
from repro_runner.graphs.layers import BOXES_PER_ROW, LONGEST_EDGE, place_boxes
from repro_runner.graphs.statistics import describe_graph, parameters_bytes
from repro_runner.graphs.traced import TracedGraph
from tests.repro_runner.fixtures.traced_programs import AttentionBlock, traced

pytestmark = pytest.mark.torch

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def block() -> TracedGraph:
    return traced(AttentionBlock(), [torch.randn(2, 16, 32)])


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """(left, top, right, bottom) of each node's box; the small ones are the legend's."""
    found = [rect.attrib for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect")]
    return [
        (
            float(box["x"]),
            float(box["y"]),
            float(box["x"]) + float(box["width"]),
            float(box["y"]) + float(box["height"]),
        )
        for box in found
        if float(box["width"]) > 20
    ]


# The picture.


def test_it_shows_every_op_with_its_tensor_and_its_line_in_the_tooltip(block: TracedGraph) -> None:
    svg = draw_graph(block.forward, "forward")
    shown = texts(svg)
    assert {"addmm", "bmm", "_softmax", "gelu", "add.Tensor", "primals_1", "float32[2, 4, 16, 16]"} <= set(shown)
    calls = [node for node in block.forward.graph.nodes if node.target not in (operator.getitem, "output")]
    outputs = sum(text.startswith("output ") for text in shown)
    assert outputs > 1, "what is saved for the backward leaves, too"
    assert len(boxes(svg)) == len(calls) + outputs
    tooltips = [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}title")]
    softmax = next(text for text in tooltips if "aten._softmax.default" in text)
    assert "float32[2, 4, 16, 16]" in softmax
    assert "traced_programs.py:" in softmax


def test_the_kinds_of_ops_have_colours_of_their_own(block: TracedGraph) -> None:
    kinds = {element.get("class") for element in ElementTree.fromstring(draw_graph(block.forward, "")).iter(f"{SVG}g")}
    style = Path(drawing.__file__).with_name("drawing.css").read_text("utf-8")
    assert {"input", "matmul", "view", "pointwise", "other", "output"} <= kinds
    assert all(f".{kind} rect" in style for kind in kinds if kind and " " not in kind)
    assert "prefers-color-scheme: dark" in style


def test_what_is_refused_is_framed_and_says_why(block: TracedGraph) -> None:
    found = find_violations([UnsupportedOpsConstraint(["gelu", "bmm"])], block.forward)
    groups = ElementTree.fromstring(draw_graph(block.forward, "", found)).iter(f"{SVG}g")
    framed = [group for group in groups if "refused" in (group.get("class") or "").split()][1:]
    assert sorted(group.findtext(f"{SVG}text") or "" for group in framed) == ["bmm", "bmm", "gelu"]
    assert all("this device has no such op" in (group.findtext(f"{SVG}title") or "") for group in framed)


@pytest.mark.parametrize("part", ["pre_aot", "forward", "backward"])
def test_boxes_do_not_overlap_and_lie_within_the_picture(block: TracedGraph, part: str) -> None:
    svg = draw_graph(getattr(block, part), part)
    width, height = (float(ElementTree.fromstring(svg).attrib[side]) for side in ("width", "height"))
    found = boxes(svg)
    assert all(left >= 0 and top >= 0 and right <= width and bottom <= height for left, top, right, bottom in found)
    for index, (left, top, right, bottom) in enumerate(found):
        for other in found[index + 1 :]:
            assert other[0] >= right or other[2] <= left or other[1] >= bottom or other[3] <= top


def test_a_graph_draws_the_same_each_time(block: TracedGraph) -> None:
    assert draw_graph(block.forward, "x") == draw_graph(block.forward, "x")


def test_hostile_names_are_only_text() -> None:
    def hostile(x: torch.Tensor) -> torch.Tensor:
        return x

    hostile.__name__ = hostile.__module__ = '</text><script>alert(1)</script>\x00\x1b&"'
    graph = Graph()
    graph.output(graph.call_function(hostile, (graph.placeholder("x"),)))
    svg = draw_graph(GraphModule({}, graph), "<title> & \x00")
    root = ElementTree.fromstring(svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg",
        "title",
        "style",
        "g",
        "rect",
        "text",
        "path",
    }
    assert any("</text><script>" in text for text in texts(svg))


def test_a_thousand_nodes_are_drawn() -> None:
    graph = Graph()
    chosen = random.Random(0)
    made = [graph.placeholder(f"x{index}") for index in range(60)]
    for _ in range(940):
        made.append(graph.call_function(torch.add, tuple(chosen.choices(made[-30:], k=2))))
    graph.output(tuple(made[-40:]))
    found = boxes(draw_graph(GraphModule({}, graph), "large"))
    assert len(found) == 1000 + 40
    tops = [top for _, top, _, _ in found]
    assert max(tops.count(top) for top in set(tops)) <= BOXES_PER_ROW


def test_a_graph_without_ops_is_a_picture_too() -> None:
    graph = Graph()
    graph.output(())
    assert boxes(draw_graph(GraphModule({}, graph), "empty")) == []


# Where the boxes are.


def test_each_box_is_below_what_it_reads_and_inputs_are_near_their_readers() -> None:
    chain = {f"op{index}": [f"op{index - 1}", f"weight{index}"] if index else ["weight0"] for index in range(30)}
    reads = {**{f"weight{index}": [] for index in range(30)}, **chain}
    layout = place_boxes(reads, box_width=10, lane_width=2)
    assert all(layout.rows[source] < layout.rows[box] for box, sources in reads.items() for source in sources)
    assert all(layout.rows[f"op{index}"] - layout.rows[f"weight{index}"] == 1 for index in range(30))
    assert layout.undrawn == ()


def test_an_edge_past_many_rows_is_left_undrawn_and_a_shorter_one_has_a_lane_in_each_row() -> None:
    chain = {f"op{index}": [f"op{index - 1}"] if index else [] for index in range(LONGEST_EDGE + 3)}
    reads = {**chain, "near": [f"op{LONGEST_EDGE + 2}", f"op{LONGEST_EDGE - 1}"], "far": ["near", "op0"]}
    layout = place_boxes(reads, box_width=10, lane_width=2)
    assert layout.undrawn == (("op0", "far"),)
    assert len(layout.lanes[f"op{LONGEST_EDGE - 1}", "near"]) == 3
    assert layout.lanes["op0", "op1"] == ()


# The numbers.


def test_the_numbers_of_a_graph(block: TracedGraph) -> None:
    model = AttentionBlock()
    forward = describe_graph(block.forward, lowered=True)
    assert forward["ops"]["aten.addmm.default"] == 4
    assert list(forward["ops"].values()) == sorted(forward["ops"].values(), reverse=True)
    assert "operator.getitem" not in forward["ops"]
    assert forward["dtypes"].keys() == {"float32"}
    parameters = list(model.parameters())
    assert forward["inputs"] == len(parameters) + 1
    weights = sum(each.nbytes for each in parameters)
    assert parameters_bytes(block.pre_aot) == weights
    assert forward["inputs_bytes"] == weights + 2 * 16 * 32 * 4
    assert forward["peak_bytes"] > forward["inputs_bytes"]
    assert forward["nodes"] == len(block.forward.graph.nodes)
    assert block.backward is not None
    assert forward["outputs"] == len(block.backward.graph.find_nodes(op="placeholder"))
    assert forward["peak_op"].startswith("aten.")
    assert "traced_programs.py:" in forward["peak_source"]


def test_before_aotautograd_ops_are_torchs_and_have_no_peak(block: TracedGraph) -> None:
    before = describe_graph(block.pre_aot, lowered=False)
    assert "peak_bytes" not in before
    assert {"torch.softmax", "Tensor.transpose"} <= before["ops"].keys()


def test_the_ops_of_a_branch_are_counted() -> None:
    def branches(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))  # type: ignore[no-any-return]

    ops = describe_graph(traced(branches, [torch.ones(3)]).forward, lowered=True)["ops"]
    assert {"higher_order.cond", "aten.sin.default", "aten.cos.default"} <= ops.keys()
