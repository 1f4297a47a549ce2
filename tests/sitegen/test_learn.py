"""Pages of lessons show text, code, and what that printed where it was run; breaks link to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from registry.knowledge import read_package
from registry.merge import merge_registry
from registry.model import Cell, CellOutput, Environment, Lesson, LessonRun, Registry
from sitegen.learn import lessons_about, render_learn
from sitegen.templating import template_environment
from tests.sitegen.overview_pages import html_of

pytestmark = pytest.mark.slow

TEMPLATES = Path(__file__).parents[2] / "templates"


def run(device: str, *outputs: CellOutput) -> LessonRun:
    environment = Environment(torch="2.13.0", python="3.11", device=device)
    return LessonRun(environment=environment, sha256="", outputs=outputs, device_name=f"our {device}")


@pytest.fixture(scope="module")
def registry() -> Registry:
    return merge_registry(read_package())


def lesson(name: str, *, runs: tuple[LessonRun, ...] = ()) -> Lesson:
    cells = (Cell(text="Some **text** with `{{ braces }}`."), Cell(code="print(x < 1)", line=1))
    return Lesson(
        name=name, title=f"About {name}", lead="Lead.", explains=("GB0039",), file="", cells=cells, sha256="", runs=runs
    )


def page(texts: dict[str, str], name: str) -> BeautifulSoup:
    return html_of(texts[name])


def text_of(found: BeautifulSoup, selector: str) -> str:
    (one,) = found.select(selector)
    return one.get_text()


def test_a_page_has_text_code_outputs_and_pictures(registry: Registry) -> None:
    picture = CellOutput(text="out < 1\n", picture="<svg/>")
    same = run("cuda", replace(picture, picture="<svg> </svg>"))
    other = lesson("one_thing", runs=(run("cpu", picture), same, run("cuda", CellOutput(text="other"))))
    shown = replace(registry, lessons=(lesson("start"), other), notebooks=())
    texts = render_learn(shown, template_environment(TEMPLATES))
    assert set(texts) == {"learn/index.md", "learn/one-thing.md", "assets/learn/one-thing-cpu-1.svg"}
    found = page(texts, "learn/one-thing.md")
    assert text_of(found, "strong") == "text"
    assert "{{ braces }}" in found.get_text()
    assert text_of(found, ".language-python").strip() == "print(x < 1)"
    assert [one.get_text().strip() for one in found.select(".language-text")] == ["out < 1", "other"]
    assert [one.get_text() for one in found.select("em")][1:] == [
        "CPU (our cpu), torch 2.13.0",
        "CUDA (our cuda), torch 2.13.0",
    ]
    assert [image["src"] for image in found.select("img")] == ["../assets/learn/one-thing-cpu-1.svg"]
    assert [link["href"] for link in found.select("#pages-about-this-topic + ul a")] == ["../gb/GB0039.md"]
    start = page(texts, "learn/index.md")
    assert [link["href"] for link in start.select("#the-lessons + ul a")] == ["one-thing.md"]
    assert "We have not run this version yet" in start.get_text()


def test_every_break_links_to_the_lessons_that_explain_it(registry: Registry) -> None:
    names = [one.name for one in lessons_about(registry, "GB0039")]
    assert names[-1] == "start"
    assert len(names) > 1
    assert [one.name for one in lessons_about(registry, "no such thing")] == ["start"]
