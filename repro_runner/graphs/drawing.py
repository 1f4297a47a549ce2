"""A graph as a picture: an SVG of boxes and lines, with no program or library to draw it.

A box shows an op and its tensor; its tooltip has the rest. The boxes that it reads are above it, joined by lines. Where
a line would be too long, both boxes show the name of the node that is read instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import torch
from torch.fx import GraphModule, Node

from repro_runner.constraints import Violation
from repro_runner.constraints.nodes import op_name, picks_from_a_tuple, source_line, traced_tensors
from repro_runner.graphs.layers import Edge, Layout, place_boxes
from repro_runner.torch_seams import OpOverload, pytree

_STYLE = Path(__file__).with_name("drawing.css")
BOX_WIDTH, BOX_HEIGHT, BETWEEN, _ROW, _LANE, MARGIN, LEGEND, _LEGEND_ENTRY = 190, 38, 16, 84, 10, 20, 40, 110
_LETTERS = 26
"""How many fit in a box."""
_MULTIPLYING = re.compile(r"aten\.(\w*mm|\w*bmm|convolution\w*|_?scaled_dot_product\w*|linear\w*|\w*addmv|mv|dot)\.")
_KINDS = ("input", "constant", "matmul", "pointwise", "view", "other", "output", "refused")
# Not allowed in XML, even escaped.
_UNWRITABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A box with two lines of text, and a tooltip."""

    name: str = ""
    kind: str
    op: str
    tensor: str
    details: str = ""
    refused: bool = False


class Drawing(str):
    """The text of an SVG. A notebook shows the picture."""

    def _repr_svg_(self) -> str:
        return str(self)


def draw_graph(graph: GraphModule, title: str, violations: Sequence[Violation] = ()) -> Drawing:
    """The graph as SVG; what the device would refuse is framed in red."""
    boxes, reads = _boxes_and_reads(graph, violations)
    layout = place_boxes(reads, box_width=BOX_WIDTH + BETWEEN, lane_width=_LANE)
    everywhere = [*layout.middles.values(), *(middle for lanes in layout.lanes.values() for middle in lanes), 0.0]
    shift = MARGIN + BOX_WIDTH / 2 - min(everywhere)
    used = {box.kind for box in boxes} | ({"refused"} if any(box.refused for box in boxes) else set())
    legend = {f"other {kind}" if kind == "refused" else kind: kind for kind in _KINDS if kind in used}
    width = max(max(everywhere) + shift + BOX_WIDTH / 2, _LEGEND_ENTRY * len(legend)) + MARGIN
    height = MARGIN + LEGEND + _ROW * (1 + max(layout.rows.values(), default=0)) + MARGIN
    svg = new_svg(title, width=width, height=height)
    draw_legend(svg, legend)
    for edge in layout.lanes:
        _draw_edge(svg, layout, shift, edge)
    names = _names_shown(layout)
    for box in boxes:
        x, y = layout.middles[box.name] + shift, _top(layout.rows[box.name])
        draw_box(svg, box, x, y, names.get(box.name, ""))
    return finish(svg)


def new_svg(title: str, *, width: float, height: float) -> ElementTree.Element:
    """An empty picture with its title and its style."""
    size = {"width": f"{width:.0f}", "height": f"{height:.0f}", "viewBox": f"0 0 {width:.0f} {height:.0f}"}
    svg = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size})
    add_text(svg, "title", title)
    add_text(svg, "style", _STYLE.read_text("utf-8"))
    return svg


def finish(svg: ElementTree.Element) -> Drawing:
    return Drawing(ElementTree.tostring(svg, encoding="unicode") + "\n")


def _boxes_and_reads(graph: GraphModule, violations: Sequence[Violation]) -> tuple[list[Box], dict[str, list[str]]]:
    """The boxes, and the boxes that each one reads. A `getitem` has no box: its readers read the tuple's maker.
    Each output has a box of its own below its maker, since lines to one box at the end would hide everything."""
    wrong: dict[str, list[str]] = {}
    for violation in violations:
        wrong.setdefault(violation.node, []).append(str(violation))
    boxes: list[Box] = []
    reads: dict[str, list[str]] = {}
    for node in graph.graph.nodes:
        if node.op == "output":
            for maker, places in _outputs(node).items():
                name = f"output.{maker}"
                boxes.append(
                    Box(name=name, kind="output", op=f"output {places}", tensor=maker, details="", refused=False)
                )
                reads[name] = [maker]
        elif not picks_from_a_tuple(node):
            boxes.append(_make_box(node, wrong.get(node.name, [])))
            reads[node.name] = [_value_maker(each).name for each in node.all_input_nodes]
    return boxes, reads


def _outputs(node: Node) -> dict[str, str]:
    """Name of a node -> the positions at which its value is returned: "0, 3"."""
    found: dict[str, list[str]] = {}
    for index, leaf in enumerate(pytree.tree_leaves(node.args[0])):
        if isinstance(leaf, Node):
            found.setdefault(_value_maker(leaf).name, []).append(str(index))
    return {maker: ", ".join(places) for maker, places in found.items()}


def _value_maker(node: Node) -> Node:
    while picks_from_a_tuple(node) and isinstance(picked_from := node.args[0], Node):
        node = picked_from
    return node


def _make_box(node: Node, wrong: Sequence[str]) -> Box:
    tensors = [str(tensor) for tensor in traced_tensors(node)]
    op = op_name(node)
    given = str(node.target) if node.op in ("placeholder", "get_attr") else op
    return Box(
        name=node.name,
        kind=_kind(node, op),
        op=given.removeprefix("aten.").removesuffix(".default"),
        tensor=f"{tensors[0]}{f' +{len(tensors) - 1}' if tensors[1:] else ''}" if tensors else "",
        details="\n".join(filter(None, [f"{node.name} = {op}", *tensors, source_line(node), *wrong])),
        refused=bool(wrong),
    )


def _kind(node: Node, op: str) -> str:
    if node.op in ("placeholder", "get_attr"):
        return "input" if node.op == "placeholder" else "constant"
    if _MULTIPLYING.match(op):
        return "matmul"
    if isinstance(node.target, OpOverload):
        if node.target.is_view:
            return "view"
        if torch.Tag.pointwise in node.target.tags:
            return "pointwise"
    return "other"


def draw_legend(svg: ElementTree.Element, labels: Mapping[str, str]) -> None:
    """One entry per kind of box: class -> label."""
    for index, (kind, label) in enumerate(labels.items()):
        group = ElementTree.SubElement(svg, "g", {"class": kind})
        place = {"x": str(MARGIN + _LEGEND_ENTRY * index), "y": str(MARGIN)}
        ElementTree.SubElement(group, "rect", {**place, "width": "16", "height": "12", "rx": "2"})
        add_text(group, "text", label, {"x": str(MARGIN + 22 + _LEGEND_ENTRY * index), "y": str(MARGIN + 11)})


def _draw_edge(svg: ElementTree.Element, layout: Layout, shift: float, edge: Edge) -> None:
    """A line that leaves and arrives upright, and runs straight where it passes a row."""
    source, box = edge
    x, y = layout.middles[source] + shift, _top(layout.rows[source]) + BOX_HEIGHT
    path = [f"M{x:.0f} {y:.0f}"]
    lanes = [(lane + shift, _top(row)) for row, lane in enumerate(layout.lanes[edge], layout.rows[source] + 1)]
    for next_x, next_y in [*lanes, (layout.middles[box] + shift, _top(layout.rows[box]))]:
        halfway = (y + next_y) / 2
        path.append(f"C{x:.0f} {halfway:.0f} {next_x:.0f} {halfway:.0f} {next_x:.0f} {next_y:.0f}")
        x, y = next_x, next_y + BOX_HEIGHT
        path.append(f"V{y:.0f}")
    ElementTree.SubElement(svg, "path", {"class": "edge", "d": "".join(path[:-1])})


def _names_shown(layout: Layout) -> dict[str, str]:
    """Box -> the names to show below it, for the edges that are not drawn."""
    shown: dict[str, list[str]] = {}
    for source, _ in layout.undrawn:
        shown.setdefault(source, [f"is {source}"])
    for source, box in layout.undrawn:
        shown.setdefault(box, []).append(f"reads {source}")
    return {box: ", ".join(names) for box, names in shown.items()}


def draw_box(
    svg: ElementTree.Element, box: Box, x: float, y: float, names: str = "", *, width: float = BOX_WIDTH
) -> None:
    """Draw it. `x` is its middle, `y` its top."""
    group = ElementTree.SubElement(svg, "g", {"class": f"{box.kind} refused" if box.refused else box.kind})
    if box.details:
        add_text(group, "title", box.details)
    left = f"{x - width / 2:.0f}"
    size = {"width": f"{width:.0f}", "height": str(BOX_HEIGHT), "rx": "4"}
    ElementTree.SubElement(group, "rect", {"x": left, "y": f"{y:.0f}", **size})
    middle = {"x": f"{x:.0f}", "text-anchor": "middle"}
    add_text(group, "text", _shortened(box.op), {**middle, "y": f"{y + 15:.0f}", "class": "op"})
    add_text(group, "text", _shortened(box.tensor), {**middle, "y": f"{y + 30:.0f}", "class": "tensor"})
    if names:
        add_text(group, "text", _shortened(names), {"x": left, "y": f"{y + BOX_HEIGHT + 12:.0f}", "class": "name"})


def add_text(parent: ElementTree.Element, tag: str, text: str, attributes: Mapping[str, str] | None = None) -> None:
    """Add an element with a text in it."""
    element = ElementTree.SubElement(parent, tag, dict(attributes or {}))
    element.text = _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _shortened(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _top(row: int) -> float:
    return MARGIN + LEGEND + _ROW * row
