"""Charts as inline SVG, drawn by Vega-Lite while the site is built: a page needs no script and no request for them.

The same numbers give the same bytes on any machine. Fonts differ between machines, so nothing is placed by measuring
text: no automatic size, no legend, no title; names stand in the page, or at fixed places.
Colours are variables of look.css, which know light from dark: series `new` is drawn in `--chart-new`.
A bar or point says its number when one points at it, and leads to the list that it counts. The links are not in the
way of a keyboard: each stands in a table beside the chart, too.
"""

from __future__ import annotations

import html
import importlib.metadata
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

import vl_convert

from registry.parse_cache import ParseCache
from sitegen.counts import Count
from sitegen.escape import verbatim

Series = Mapping[str, Mapping[str, Count]]
"""Name of a series -> step -> number; every series has the same steps."""

Names = Mapping[str, str]
"""Name of a series -> what a reader calls it, where that is something else."""

Curve = Mapping[str, Mapping[int, tuple[float, float, float]]]
"""Name of a series -> place -> (middle, low, high)."""

WIDTH = 400
"""As wide as a phone: a chart grows from there, and its letters stay readable."""

_VEGA_LITE = "5.21"  # named, so that a newer vl-convert draws the same
_KEPT = frozenset(
    (
        "d",
        "fill",
        "font-size",
        "font-weight",
        "stroke",
        "stroke-width",
        "text-anchor",
        "transform",
        "viewBox",
        "x2",
        "y2",
    )
)
_PADDING = {"left": 34, "top": 16, "right": 18, "bottom": 44}
_ROW = 42
_POINT: Mapping[str, Any] = {"type": "point", "filled": True, "size": 30, "opacity": 1, "strokeWidth": 14, "aria": True}
"""What is wider than the point is not drawn: lists.css makes it a place to point at."""
_TOLD = {"description": {"field": "told"}}
_NO_NAMES: Names = {}

_CONFIG: Mapping[str, Any] = {
    "aria": False,
    "background": None,
    "view": {"stroke": None},
    "text": {"color": "currentColor", "fontSize": 13},
    "axis": {
        "domainColor": "var(--line)",
        "gridColor": "var(--line)",
        "labelColor": "var(--soft)",
        "labelFontSize": 12,
        "labelLimit": 0,
        "labelOverlap": False,
        "ticks": False,
        "title": None,
    },
}


def lines_chart(title: str, series: Series, names: Names = _NO_NAMES) -> str:
    """One line per series, from step to step; the last number of each is written out."""
    place = {"x": _steps(), "y": _numbers(), "color": _colour(series)}
    layers = [
        {"mark": {"type": "line", "strokeWidth": 2.5}, "encoding": place},
        {"mark": _POINT, "encoding": {**place, **_TOLD}},
        {
            "transform": [{"filter": {"field": "last", "equal": True}}],
            "mark": {"type": "text", "dy": -9, "fontWeight": 600},
            "encoding": {"x": _steps(), "y": _numbers(), "text": {"field": "number"}},
        },
    ]
    return _draw(title, list(_flat(series, names)), layers, height=200, padding=_PADDING)


def curves_chart(title: str, curves: Curve, counted: Callable[[int], str], names: Names = _NO_NAMES) -> str:
    """One line per series over places that are numbers; a bar at each from low to high, the last written out."""
    values = list(_measured(curves, counted, names))
    along = {
        "field": "place",
        "type": "quantitative",
        "axis": {"values": sorted({one["place"] for one in values}), "format": "d", "grid": False},
        "scale": {"nice": False, "padding": 12},
    }
    across = {**_numbers(), "scale": {"zero": True}}
    place = {"x": along, "y": across, "color": _colour(curves)}
    spread = {**place, "y": {**across, "field": "low"}, "y2": {"field": "high"}}
    layers: list[Any] = [
        {"mark": {"type": "rule", "strokeWidth": 5}, "encoding": spread},
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": place},
        {"mark": _POINT, "encoding": {**place, **_TOLD}},
    ]
    for side, dy in (("above", -11), ("below", 17)):
        layers.append(
            {
                "transform": [{"filter": {"field": "written", "equal": side}}],
                "mark": {"type": "text", "align": "right", "dx": 14, "dy": dy, "fontWeight": 600},
                "encoding": {"x": along, "y": across, "text": {"field": "end"}},
            }
        )
    return _draw(title, values, layers, height=200, padding={**_PADDING, "bottom": 24})


def columns_chart(title: str, series: Series, names: Names = _NO_NAMES) -> str:
    """A column per series at each step, side by side."""
    place = {
        "x": _steps(),
        "xOffset": {"field": "series", "sort": list(series)},
        "y": _numbers(),
        "color": _colour(series),
        **_TOLD,
    }
    layers = [{"mark": {"type": "bar", "aria": True}, "encoding": place}]
    return _draw(title, list(_flat(series, names)), layers, height=200, padding=_PADDING)


def bars_chart(title: str, rows: Series, names: Names = _NO_NAMES) -> str:
    """A bar per row, one part after the other; the row's name stands above its bar, the sum behind it."""
    sums: list[dict[str, Any]] = [
        {"row": row, "sum": sum(part.number for part in parts.values()), "name_at": at + 0.26, "sum_at": at + 0.68}
        for at, (row, parts) in enumerate(rows.items())
    ]
    across = _scale(0, max((one["sum"] for one in sums), default=0) or 1)
    down = _scale(len(rows), 0)
    bar = {
        "x": {"field": "start", **across},
        "x2": {"field": "end"},
        "y": {"field": "top", **down},
        "y2": {"field": "bottom"},
        "color": _colour(dict.fromkeys(part for parts in rows.values() for part in parts)),
        **_TOLD,
    }
    name = {"x": {"datum": 0, **across}, "y": {"field": "name_at", **down}, "text": {"field": "row"}}
    end = {"x": {"field": "sum", **across}, "y": {"field": "sum_at", **down}, "text": {"field": "sum"}}
    text = {"type": "text", "align": "left", "baseline": "middle"}
    layers = [
        {"mark": {"type": "rect", "aria": True}, "encoding": bar},
        {"data": {"values": sums}, "mark": {**text, "fontSize": 12}, "encoding": name},
        {"data": {"values": sums}, "mark": {**text, "dx": 6, "fontWeight": 600}, "encoding": end},
    ]
    padding = {"left": 1, "top": 0, "right": 44, "bottom": 4}
    return _draw(title, list(_parts(rows, names)), layers, height=_ROW * len(rows), padding=padding)


def _flat(series: Series, names: Names) -> Iterator[dict[str, Any]]:
    for name, along in series.items():
        for step, count in along.items():
            told = _told(step, names.get(name, name), count)
            yield {"series": name, "step": step, "number": count.number, "last": step == list(along)[-1], "told": told}


def _told(step: str, name: str, count: Count) -> str:
    """What is said of a bar or point, and where it leads: `_with_title` takes both apart. Zero has no list."""
    what = ", ".join(filter(None, (step, name)))
    return json.dumps([f"{what}: {count.number}", count.link if count.number else ""])


def _measured(curves: Curve, counted: Callable[[int], str], names: Names) -> Iterator[dict[str, Any]]:
    """Of the last numbers the highest stands above its point, the others below: they may be close to each other."""
    ends = {name: along[max(along)][0] for name, along in curves.items()}
    for name, along in curves.items():
        side = "above" if ends[name] == max(ends.values()) else "below"
        for place, (middle, low, high) in along.items():
            yield {
                "series": name,
                "place": place,
                "number": middle,
                "low": low,
                "high": high,
                "written": side if place == max(along) else "",
                "end": f"{middle:.2f} ×",
                "told": json.dumps(
                    [f"{counted(place)}, {names.get(name, name)}: {middle:.2f} × ({low:.2f} – {high:.2f})", ""]
                ),
            }


def _parts(rows: Series, names: Names) -> Iterator[dict[str, Any]]:
    for at, (row, parts) in enumerate(rows.items()):
        start = 0
        for part, count in parts.items():
            end = start + count.number
            told = _told(row, names.get(part, part), count)
            if count.number:
                yield {"series": part, "start": start, "end": end, "top": at + 0.48, "bottom": at + 0.9, "told": told}
            start = end


def _steps() -> dict[str, Any]:
    return {"field": "step", "type": "ordinal", "sort": None, "axis": {"labelAngle": -45, "labelAlign": "right"}}


def _numbers() -> dict[str, Any]:
    return {"field": "number", "type": "quantitative", "axis": {"tickCount": 4, "domain": False}}


def _scale(first: int, last: int) -> dict[str, Any]:
    return {"type": "quantitative", "axis": None, "scale": {"domain": [first, last], "nice": False, "zero": False}}


def _colour(names: Mapping[str, object]) -> dict[str, Any]:
    colours = [f"var(--chart-{name})" for name in names]
    return {"field": "series", "scale": {"domain": list(names), "range": colours}, "legend": None}


def _draw(title: str, values: list[dict[str, Any]], layers: list[Any], height: int, padding: Mapping[str, int]) -> str:
    chart = {
        "width": WIDTH - padding["left"] - padding["right"],
        "height": height,
        "padding": dict(padding),
        "autosize": {"type": "none"},
        "config": _CONFIG,
        "data": {"values": values},
        "layer": layers,
    }
    return _bare(_svg(json.dumps(chart)), title)


def _svg(chart: str) -> str:
    """Kept for the next run, too: charts seldom change, and to draw the first takes half a second."""
    before = ParseCache[str]("charts", dump=str, load=str)
    version = f"{importlib.metadata.version('vl-convert-python')} {_VEGA_LITE}"
    drawn = before.recall(f"{version}\n{chart}", lambda: str(vl_convert.vegalite_to_svg(chart, vl_version=_VEGA_LITE)))
    before.save()
    return drawn


def _bare(svg: str, title: str) -> str:
    """Keep what draws: no size of its own, no classes and ids that might meet the page's, no digits nobody sees."""
    drawn = ElementTree.fromstring(svg)
    _strip(drawn)
    role = "img" if drawn.find(".//a") is None else "group"  # nothing inside of an image can be reached
    drawn.attrib = {"viewBox": drawn.attrib["viewBox"], "role": role, "aria-label": title}
    text = ElementTree.tostring(drawn, encoding="unicode", short_empty_elements=False)
    return re.sub(r"(?<=>)[^<]+", lambda found: verbatim(html.unescape(found[0])), text)


def _strip(element: ElementTree.Element) -> None:
    element.tag = element.tag.rpartition("}")[2]
    element.attrib = {name: _rounded(value) for name, value in element.attrib.items() if name in _KEPT}
    for at, child in reversed(list(enumerate(element))):
        told = child.attrib.get("aria-label")
        if child.attrib.get("class") in ("background", "foreground"):
            element.remove(child)  # frames that are not drawn
            continue
        _strip(child)
        if told:
            element[at] = _with_title(child, *json.loads(told))


def _with_title(shape: ElementTree.Element, said: str, link: str) -> ElementTree.Element:
    """A browser shows the title of what one points at; a link's title is its name, too."""
    outer = ElementTree.Element("a", {"href": link, "tabindex": "-1"}) if link else shape
    title = ElementTree.SubElement(outer, "title")
    title.text = said
    if link:
        outer.append(shape)
    return outer


def _rounded(value: str) -> str:
    return re.sub(r"-?\d+\.\d+(?:e-\d+)?", lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), value)
