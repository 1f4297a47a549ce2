from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from registry.merge import merge_registry
from registry.model import Category, Environment, Evidence, GraphBreak, Registry
from registry.notes import front_matter_value
from registry.repros import parse_repro
from registry.snippets import Snippet, programs_of, take_apart
from sitegen.categories import held_fixes, render_categories
from sitegen.templating import template_environment
from tests.committed import committed_registry
from tests.conftest import ROOT
from tests.samples import HOSTILE, knowledge, revision
from tests.scheduling import sampled
from tests.sitegen.linked_numbers import bare_numbers, linked_numbers, wrong_numbers
from tests.sitegen.overview_pages import KINDS, html_of, real_pages

pytestmark = pytest.mark.slow

SOURCE = '''"""A lead."""

FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def broken(x):
    return x.item()


def fixed(x):
    """Leave it
    a `tensor`."""
    return x


def fixed_flag(x):
    """You need a number."""
    return x.item()


def fixed_never(x):
    """This one did not hold."""
    return x
'''


def proven(source: str = SOURCE) -> Registry:
    repro = parse_repro(source, "GB0001")
    seen = Evidence(
        environment=Environment(torch="2.13.0", python="3.11", device="cpu"),
        repro_sha256=repro.sha256,
        verdicts={"eager": "verified"},
        fixes={"fixed": True, "fixed_flag": True, "fixed_never": False},
    )
    return merge_registry(
        knowledge({"GB0001": [revision("t")]}, repros={"GB0001": repro}, evidence={"GB0001": (seen,)})
    )


def rendered(registry: Registry) -> dict[str, str]:
    return render_categories(registry, programs_of(registry), template_environment(ROOT / "templates"))


def test_every_id_is_on_the_page_of_its_kind_and_on_no_other() -> None:
    found = Counter(
        (link.get_text(), name)
        for name, page in real_pages().items()
        if name.startswith("categories/")
        for link in html_of(page).select("#breaks-of-this-kind ~ ul > li > a:first-child")
    )
    assert found == Counter((gb.gb_id, f"categories/{gb.category}.md") for gb in committed_registry())


def test_every_kind_has_a_card_that_leads_to_its_page() -> None:
    index = html_of(real_pages()["categories.md"])
    links = [str(card["href"]) for card in index.select("li > a:first-child")]
    assert links == [f"categories/{key}.md" for key in KINDS]
    for key in KINDS:
        assert front_matter_value(real_pages()[f"categories/{key}.md"], "permalink") == f"/categories/{key}.html"


@pytest.mark.parametrize("name", sampled(["categories.md", *(f"categories/{key}.md" for key in KINDS)], 3))
def test_every_number_is_that_of_the_list_it_links_to(name: str) -> None:
    page = real_pages()[name]
    assert list(linked_numbers(page))
    assert wrong_numbers(committed_registry(), page) == []
    assert bare_numbers(page) == []


@pytest.mark.parametrize("key", KINDS)
def test_links_of_a_kinds_page_leave_its_folder(key: str) -> None:
    links = html_of(real_pages()[f"categories/{key}.md"]).find_all("a")
    assert links
    assert all(str(link["href"]).startswith("../") for link in links)


def held(gb: GraphBreak) -> tuple[Snippet, ...]:
    return held_fixes(gb, take_apart(gb.repro) if gb.repro else None)


def test_fixes_that_held_are_shown_with_the_words_that_say_when() -> None:
    (gb,) = proven()
    assert [(fix.kind, fix.when, fix.settings) for fix in held(gb)] == [
        ("rewrite", "Leave it a `tensor`.", ""),
        ("flag", "You need a number.", "torch._dynamo.config.capture_scalar_outputs = True"),
    ]
    page = rendered(proven())["categories/control-flow.md"]
    assert "**Rewrite the code.** Leave it a `tensor`" in page
    assert "did not hold" not in page


def test_a_flag_is_named_with_the_ids_that_it_lifts() -> None:
    page = html_of(rendered(proven())["categories/control-flow.md"])
    (row,) = page.select("#settings-that-remove-breaks + table tbody tr")
    cells = [cell.get_text() for cell in row.find_all("td")]
    assert cells[:2] == ["torch._dynamo.config.capture_scalar_outputs = True", "GB0001"]


def test_what_held_of_an_older_program_is_not_shown() -> None:
    (gb,) = proven()
    stale = replace(gb.evidence[0], repro_sha256="older", fixes={"fixed_never": True})
    assert held(replace(gb, evidence=(*gb.evidence, stale))) == held(gb)
    assert held(replace(gb, evidence=(stale,))) == ()


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_gets_out_of_its_place(text: str) -> None:
    kind = Category(key="k", title=text, why=text, way_out=text, ids=("GB0001",))
    pages = rendered(merge_registry(knowledge({"GB0001": [revision(text)]}, categories=(kind,))))
    soup = html_of(pages["categories/k.md"])
    (heading,) = soup.find_all("h1")
    assert heading.get_text() == text
    assert not soup.find_all(["script", "del"])
    assert [one.get_text() for one in soup.find_all("em")] == ["no program yet"]
    assert "render_with_liquid: false" in pages["categories/k.md"]
