from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
import vl_convert

from sitegen import charts
from sitegen.charts import Series, bars_chart, columns_chart, curves_chart, lines_chart
from sitegen.counts import Count
from tests.conftest import ROOT

pytestmark = pytest.mark.slow


def counted(numbers: dict[str, dict[str, int]]) -> Series:
    """Each number with the address of its list."""
    return {
        name: {step: Count(number, f"index.html?{name}={step}&live=any") for step, number in along.items()}
        for name, along in numbers.items()
    }


SERIES = counted({"new": {"2.8.0": 3, "2.9.0": 12, "2.10.0": 0}, "retired": {"2.8.0": 1, "2.9.0": 7, "2.10.0": 31}})
CURVES = {
    "eager": {0: (1.5, 1.4, 1.6), 2: (1.5, 1.5, 1.5), 8: (1.6, 1.5, 1.7)},
    "inductor": {0: (1.0, 1.0, 1.0), 2: (1.2, 1.1, 1.3), 8: (2.0, 1.9, 2.5)},
}
ROWS = counted({"Wide MMMM, & narrow iiii": {"verified": 7, "open": 3}, "B": {"verified": 0, "open": 25}})


def draw_all() -> dict[str, str]:
    return {
        "lines": lines_chart("Lines & <more>", SERIES),
        "columns": columns_chart("Columns", SERIES),
        "bars": bars_chart("Bars", ROWS),
        "curves": curves_chart("Curves", CURVES, str),
    }


def paths(svg: str, series: str) -> list[list[float]]:
    """The numbers in the `d` of every shape of one series, in the order drawn."""
    shapes = ElementTree.fromstring(svg).iter("path")
    return [numbers(path.attrib["d"]) for path in shapes if path.get("fill") == f"var(--chart-{series})"]


def numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text)]


@pytest.mark.parametrize("name", ["lines", "columns", "bars", "curves"])
def test_a_chart_has_nothing_that_the_page_forbids_or_shares(name: str) -> None:
    drawn = ElementTree.fromstring(draw_all()[name])
    attributes = {attribute for element in drawn.iter() if element.tag != "a" for attribute in element.attrib}
    assert attributes <= charts._KEPT | {"role", "aria-label"}
    assert attributes.isdisjoint({"style", "id", "class", "width", "height", "href", "clip-path"})
    assert all(set(link.attrib) == {"href", "tabindex"} for link in drawn.iter("a"))
    assert {element.tag for element in drawn.iter()} <= {"svg", "g", "a", "path", "line", "text", "title"}


@pytest.mark.parametrize("name", ["lines", "columns", "bars", "curves"])
def test_a_chart_takes_its_colours_from_the_stylesheet(name: str) -> None:
    drawn = ElementTree.fromstring(draw_all()[name])
    colours = {element.get(use) for element in drawn.iter() for use in ("fill", "stroke")} - {None}
    assert all(colour in ("none", "currentColor") or str(colour).startswith("var(--") for colour in colours)


def test_a_chart_says_what_it_is_and_grows_with_the_page() -> None:
    svg = ElementTree.fromstring(draw_all()["lines"])
    assert svg.attrib == {"viewBox": "0 0 400 260", "role": "group", "aria-label": "Lines & <more>"}
    assert ElementTree.fromstring(draw_all()["curves"]).attrib["role"] == "img"  # nothing in it leads anywhere


def titles(svg: str) -> dict[str, str]:
    """What is said of each bar or point -> where it leads."""
    parents = [(parent, title) for parent in ElementTree.fromstring(svg).iter() for title in parent.findall("title")]
    return {title.text or "": parent.get("href", "") for parent, title in parents}


@pytest.mark.parametrize("draw", [lines_chart, columns_chart])
def test_each_number_is_said_and_leads_to_its_list(draw: Callable[[str, Series, Mapping[str, str]], str]) -> None:
    assert titles(draw("t", SERIES, {"retired": "no longer emitted"})) == {
        "2.8.0, new: 3": "index.html?new=2.8.0&live=any",
        "2.9.0, new: 12": "index.html?new=2.9.0&live=any",
        "2.10.0, new: 0": "",
        "2.8.0, no longer emitted: 1": "index.html?retired=2.8.0&live=any",
        "2.9.0, no longer emitted: 7": "index.html?retired=2.9.0&live=any",
        "2.10.0, no longer emitted: 31": "index.html?retired=2.10.0&live=any",
    }


def test_each_part_of_a_bar_is_said_and_leads_to_its_list() -> None:
    assert titles(bars_chart("t", ROWS, {"open": ""})) == {
        "Wide MMMM, & narrow iiii, verified: 7": "index.html?Wide MMMM, & narrow iiii=verified&live=any",
        "Wide MMMM, & narrow iiii: 3": "index.html?Wide MMMM, & narrow iiii=open&live=any",
        "B: 25": "index.html?B=open&live=any",
    }


def test_each_point_of_a_curve_is_said() -> None:
    said = titles(curves_chart("t", CURVES, lambda place: f"{place} breaks", {"inductor": "compiled"}))
    assert len(said) == 6
    assert said["8 breaks, compiled: 2.00 × (1.90 – 2.50)"] == ""


def test_text_in_a_chart_is_escaped_for_markdown_and_liquid() -> None:
    drawn = bars_chart("t", counted({"{{ x }} <b> *y* & z": {"verified": 1}}))
    assert drawn.count("&#123;&#123; x &#125;&#125; &#60;b&#62; &#42;y&#42; &#38; z") == 2  # its name, and its title


def test_numbers_have_one_decimal_at_most() -> None:
    shapes = re.sub(r'href="[^"]*"', "", "".join(draw_all().values()))
    assert not re.search(r"\d\.\d\d", shapes.replace("0.5,0.5", ""))


def test_columns_are_as_high_as_their_numbers() -> None:
    drawn = columns_chart("t", SERIES)
    for series, steps in SERIES.items():
        heights = [shape[3] for shape in paths(drawn, series)]
        unit = 200 / 35  # 31 needs an axis up to 35
        assert heights == pytest.approx([count.number * unit for count in steps.values()], abs=0.1)


def test_lines_pass_through_their_numbers_and_the_last_is_written_out() -> None:
    drawn = lines_chart("t", SERIES)
    svg = ElementTree.fromstring(drawn)
    for series, steps in SERIES.items():
        points = [
            numbers(path.attrib["transform"])[1]
            for path in svg.iter("path")
            if path.get("fill") == f"var(--chart-{series})"
        ]
        assert points == pytest.approx([200 - count.number * 200 / 35 for count in steps.values()], abs=0.1)
    bold = [text.text for text in svg.iter("text") if text.get("font-weight")]
    assert bold == ["0", "31"]


def test_curves_pass_through_their_middles_with_bars_from_low_to_high() -> None:
    svg = ElementTree.fromstring(curves_chart("t", CURVES, str))
    unit, along = 200 / 2.6, (348 - 24) / 8  # 2.5 needs an axis up to 2.6; 12 pixels are left free on both sides
    for series, places in CURVES.items():
        colour = f"var(--chart-{series})"
        points = [numbers(path.attrib["transform"]) for path in svg.iter("path") if path.get("fill") == colour]
        expected = [(12 + place * along, 200 - middle * unit) for place, (middle, _, _) in places.items()]
        assert points == [pytest.approx(point, abs=0.1) for point in expected]
        bars = [line for line in svg.iter("line") if line.get("stroke") == colour]
        heights = [abs(float(bar.attrib["y2"])) for bar in bars]
        assert heights == pytest.approx([(high - low) * unit for _, low, high in places.values()], abs=0.1)


def test_the_last_numbers_of_curves_stand_apart_the_highest_above() -> None:
    svg = ElementTree.fromstring(curves_chart("t", CURVES, str))
    written = {text.text: numbers(text.attrib["transform"])[1] for text in svg.iter("text") if text.get("font-weight")}
    assert list(written) == ["2.00 ×", "1.60 ×"]
    assert written["2.00 ×"] < 200 - 2.0 * 200 / 2.6
    assert written["1.60 ×"] > 200 - 1.6 * 200 / 2.6


def test_bars_are_as_long_as_their_parts_and_say_their_sum() -> None:
    drawn = bars_chart("t", ROWS)
    unit = 355 / 25
    assert [shape[2] for shape in paths(drawn, "verified")] == pytest.approx([7 * unit], abs=0.1)
    assert [shape[2] for shape in paths(drawn, "open")] == pytest.approx([3 * unit, 25 * unit], abs=0.1)
    assert [shape[0] for shape in paths(drawn, "open")] == pytest.approx([7 * unit, 0], abs=0.1)
    texts = [text.text for text in ElementTree.fromstring(drawn).iter("text")]
    assert texts == [*ROWS, "10", "25"]


@pytest.mark.parametrize("font", ["serif", "monospace", "no such font"])
def test_no_font_moves_anything(font: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines have different fonts: a chart that measured its text would differ between them."""
    expected = draw_all()
    monkeypatch.setattr(charts, "_CONFIG", {**charts._CONFIG, "font": font})
    assert draw_all() == expected


def test_a_chart_that_measures_its_text_would_differ_between_fonts() -> None:
    """Or the test above could not fail."""
    values = [{"row": row, "sum": sum(part.number for part in parts.values())} for row, parts in ROWS.items()]
    chart = {
        "data": {"values": values},
        "mark": "bar",
        "encoding": {"y": {"field": "row"}, "x": {"field": "sum", "type": "quantitative"}},
    }
    drawn = [vl_convert.vegalite_to_svg({**chart, "config": {"font": font}}) for font in ("serif", "monospace")]
    places = [re.findall(r'viewBox="[^"]*"', svg) for svg in drawn]
    assert places[0] != places[1]


def test_another_process_with_nothing_of_this_machines_settings_draws_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "fonts.conf").write_text('<?xml version="1.0"?><fontconfig></fontconfig>', "utf-8")
    bare = {"HOME": str(tmp_path), "FONTCONFIG_FILE": str(tmp_path / "fonts.conf"), "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    script = (
        "from tests.sitegen.test_charts import draw_all; import sys; sys.stdout.write(''.join(draw_all().values()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**bare, "PATH": os.defpath, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "".join(draw_all().values())
