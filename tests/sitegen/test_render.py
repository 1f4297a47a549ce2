from __future__ import annotations

from collections.abc import Callable

import pytest

from registry.merge import merge_registry
from registry.model import Environment, Evidence, Finding, Note, Registry, Repro, Sighting, Unreached
from registry.notes import digest, front_matter_value, split_page
from sitegen.dashboard import dashboard_context
from sitegen.render import render_site
from tests.conftest import ROOT
from tests.samples import knowledge, release, revision, site

ENVIRONMENT = Environment(torch="2.13.0", python="3.11", device="cpu")
SOURCE = '"""A lead."""\n\n\ndef broken(x):\n    return x.item()\n'


def a_registry() -> Registry:
    old, new = revision("old type"), revision("new `type`", hints=("Set a ", "to b.", "Or not."))
    known = knowledge(
        {"GB0001": [new, old], "GB0002": [revision("bare", "", "", ())], "GB0003": [revision("retired")]},
        superseded={"GB0004": (revision("dropped"),)},
        releases=[
            release("2.8.0", {"GB0001": [old], "GB0003": [revision("retired")]}),
            release(
                "2.9.0",
                {"GB0001": [new, old], "GB0002": [revision("bare", "", "", ())], "GB0003": [revision("retired")]},
                [site("new `type`", "GB0001", 7, ["Set a to b."]), site("bare", "GB0002"), site("no id", None)],
            ),
        ],
        repros={
            "GB0001": Repro(
                gb_id="GB0001",
                lead="A `lead`.",
                source=SOURCE,
                sha256="x",
                fixes={"fixed": "rewrite"},
                isolated=(),
                no_fix="Why.",
                eager_raises="ValueError",
                reach="private",
            )
        },
        evidence={"GB0001": (Evidence(environment=ENVIRONMENT, repro_sha256="x", verdicts={"eager": "reproduced"}),)},
        unreached={"GB0002": Unreached(category="dead code", evidence="`f` returns *before* that.")},
        findings=[Finding(gb_id="GB0002", kind="other", finding="A `hint` is wrong.", evidence="It was run.")],
        captured=[(revision("new `type`"), Sighting(name="a model", environment=ENVIRONMENT, count=3))],
    )
    return merge_registry(known, {"GB0001": Note(text="my *note*\r\n", written_for="old type")})


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return render_site(a_registry(), ROOT / "templates")


@pytest.mark.parametrize(
    "name", ["gb/GB0001.md", "gb/GB0002.md", "gb/GB0003.md", "gb/GB0004.md", "index.md", "dashboard.md"]
)
def test_pages_look_as_they_did(name: str, pages: dict[str, str], matches_snapshot: Callable[[str, str], None]) -> None:
    matches_snapshot(f"render/{name}", pages[name])


def test_the_same_registry_gives_the_same_bytes(pages: dict[str, str]) -> None:
    assert render_site(a_registry(), ROOT / "templates") == pages


def test_every_page_is_sealed_and_found_where_torch_links_to(pages: dict[str, str]) -> None:
    for number in range(1, 5):
        page = pages[f"gb/GB000{number}.md"]
        assert front_matter_value(page, "permalink") == f"/gb/gb000{number}.html"
        assert front_matter_value(page, "digest") == digest(page)
        assert f'<h1 id="gb000{number}">' in page
        for heading in ("Graph-Break Type", "Context", "Explanation", "Hints", "Additional Information"):
            assert page.count(f"\n\n## {heading}\n\n") == 1


def test_the_note_is_kept_and_its_age_is_said(pages: dict[str, str]) -> None:
    page = pages["gb/GB0001.md"]
    assert split_page(page).note == "my *note*\r\n"
    assert front_matter_value(page, "note_for") == "old type"
    assert "This note was written when GB0001 read" in page
    assert "This note was written" not in pages["gb/GB0002.md"]


def test_a_page_says_how_far_its_program_goes(pages: dict[str, str]) -> None:
    program = pages["gb/GB0001.md"]
    assert "there it raises <code>ValueError</code>. A fix is therefore compared with its own eager run." in program
    assert "It goes through private parts of torch" in program
    none = pages["gb/GB0002.md"]
    assert "<p>There is none (dead code). <code>f</code> returns &#42;before&#42; that.</p>" in none
    assert "<li>A <code>hint</code> is wrong." in none


def test_the_home_page_holds_the_plain_list(pages: dict[str, str]) -> None:
    assert '<li><a href="gb/gb0002.html">GB0002</a> — bare</li>' in pages["index.md"]


def test_the_dashboard_counts_what_is_empty_not_what_is_absent() -> None:
    context = dashboard_context(a_registry())
    assert dict(context["gaps"]) == {"With any gap": 1, "No context": 1, "No explanation": 1, "No hints": 1}
    assert dict(context["counts"]) == {
        "Ids": 4,
        "Live: emitted by the newest release": 2,
        "Retired: registered, no longer emitted": 1,
        "Dropped: gone from the registry": 1,
        "Local: captured here, no id upstream": 0,
        "With a hand-written note": 1,
        "With a program that causes it": 1,
        "With evidence that no program can cause it": 1,
    }


def test_the_dashboards_rows_per_category_add_up_to_all_ids() -> None:
    registry = a_registry()
    rows = dashboard_context(registry)["categories"]
    assert sum(row["total"] for row in rows) == len(registry)
    assert sum(row["gaps"] for row in rows) == 1


def test_a_fence_in_a_program_does_not_end_its_code_block() -> None:
    repro = Repro(gb_id="GB0001", lead="L", source="x = '''\n```\n'''\n", sha256="x", fixes={}, isolated=())
    registry = merge_registry(knowledge({"GB0001": [revision("t")]}, repros={"GB0001": repro}))
    assert "````python\nx = '''\n```\n'''\n````" in render_site(registry, ROOT / "templates")["gb/GB0001.md"]
