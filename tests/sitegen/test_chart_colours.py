"""Colours of charts: what a page asks for, a stylesheet defines, for light and for dark."""

from __future__ import annotations

import re
from functools import cache

import pytest
from bs4 import BeautifulSoup

from registry.stylesheet import read_stylesheet
from sitegen.break_cost import render_cost
from sitegen.templating import template_environment
from tests.committed import committed_registry
from tests.conftest import ROOT
from tests.sitegen.overview_pages import real_pages

pytestmark = pytest.mark.slow


@cache
def pages() -> dict[str, str]:
    cost = render_cost(committed_registry(), template_environment(ROOT / "templates"))
    return {"dashboard.md": real_pages()["dashboard.md"], "cost.md": cost["cost.md"]}


@cache
def variables(scheme: str) -> dict[str, str]:
    """What the stylesheet defines for light, or what it defines anew for dark."""
    light, dark = read_stylesheet().split("prefers-color-scheme: dark", 1)
    block = re.search(r":root \{(.*?)\}", light if scheme == "light" else dark, re.DOTALL)
    assert block is not None
    return dict(re.findall(r"(--[\w-]+):\s*([^;]+);", block[1]))


def swatches() -> dict[str, str]:
    """The colour of each mark of a legend, by its name."""
    style = (ROOT / "docs" / "assets" / "css" / "lists.css").read_text("utf-8")
    return dict(re.findall(r"\.swatch-([\w-]+) \{\s*background: ([^;]+);", style))


def undefined(name: str) -> list[str]:
    """What this variable lacks. A colour needs one value for light and one for dark; another variable has its own."""
    value = variables("light").get(name)
    if value is None:
        return [f"{name} is not defined"]
    if other := re.fullmatch(r"var\((--[\w-]+)\)", value):
        return undefined(other[1])
    return [] if name in variables("dark") else [f"{name} is {value} in the dark, too"]


@pytest.mark.parametrize("page", ["dashboard.md", "cost.md"])
def test_every_colour_of_a_chart_is_defined_for_light_and_dark(page: str) -> None:
    used = set(re.findall(r"var\((--chart-[\w-]+)\)", pages()[page]))
    assert used
    assert [problem for name in sorted(used) for problem in undefined(name)] == []


@pytest.mark.parametrize("page", ["dashboard.md", "cost.md"])
def test_every_mark_of_a_legend_has_the_colour_of_its_series(page: str) -> None:
    used = set(re.findall(r"\bswatch-([\w-]+)", pages()[page]))
    assert used
    assert {name: swatches().get(name) for name in used} == {name: f"var(--chart-{name})" for name in used}
    assert [problem for name in sorted(used) for problem in undefined(f"--chart-{name}")] == []


@pytest.mark.parametrize("page", ["dashboard.md", "cost.md"])
def test_every_chart_has_a_title_a_sentence_and_a_name_and_says_its_numbers(page: str) -> None:
    figures = BeautifulSoup(pages()[page], "html.parser").select("figure.chart")
    assert figures
    for figure in figures:
        assert [len(figure.select(part)) for part in ("figcaption", "figcaption .axes", "svg[aria-label]")] == [1, 1, 1]
        assert len(figure.select("svg title")) >= 4


def test_a_colour_that_is_missing_or_the_same_in_the_dark_is_noticed() -> None:
    """Or the tests above could not fail."""
    assert undefined("--chart-of-nothing") == ["--chart-of-nothing is not defined"]
    assert undefined("--wide") == ["--wide is 74rem in the dark, too"]
