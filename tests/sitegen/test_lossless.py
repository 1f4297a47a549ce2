"""Every string of the registry reaches the reader exactly as upstream has it, through the real Jekyll."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from bs4 import BeautifulSoup

from generate_site import main
from registry.merge import merge_registry
from registry.model import DatedRevision, GraphBreak, Registry
from sitegen.links import page_link
from sitegen.preview import render_preview
from tests.committed import committed_registry
from tests.conftest import ROOT
from tests.samples import HOSTILE, knowledge, release, revision
from tests.sitegen.built_pages import PageFacts, facts_of, page_facts
from tests.sitegen.fixture_site import write_docs
from tests.tools import build_with_jekyll

ANCHORS = {"graph-break-type", "context", "explanation", "hints", "additional-information"}

PARTS = 16
BUILDS = [
    pytest.param("committed", (0, PARTS), id="committed-0"),
    *(
        pytest.param("committed", (part, PARTS), id=f"committed-{part}", marks=pytest.mark.prove)
        for part in range(1, PARTS)
    ),
    pytest.param("hostile", (0, 1), id="hostile"),
]
"""Which registry, and which part of its pages. Six hundred pages in one test were minutes on a busy machine."""

_Item = TypeVar("_Item")

pytestmark = [pytest.mark.jekyll, pytest.mark.slow]


def hostile_registry() -> Registry:
    """Every hostile string in every field of the newest wording, and of an older one."""
    older = {f"GB{index:04}": [revision(f"old {text}", text, text, (text, text))] for index, text in enumerate(HOSTILE)}
    newest = {
        gb_id: [revision(text, text, text, (text,)), *older[gb_id]] for gb_id, text in zip(older, HOSTILE, strict=True)
    }
    return merge_registry(knowledge(newest, releases=[release("2.8.0", older), release("2.9.0", newest)]))


@dataclass(frozen=True, slots=True)
class ReadPage:
    """What the tests here want of a page, so that it is read once."""

    shown: list[str]
    """The fields of the newest wording, and each older one whole."""
    title: str
    heading: tuple[str, str]
    anchors: set[str]
    scripts: int
    facts: PageFacts


class Pages(dict[str, ReadPage]):
    """The pages of a built site by name; each is read when it is first asked for, which takes a while."""

    def __init__(self, site: Path) -> None:
        super().__init__()
        self.site = site

    def __missing__(self, name: str) -> ReadPage:
        soup = BeautifulSoup((self.site / name).read_bytes(), "html.parser")
        fields = soup.select("section:has(> #what-torch-prints) #graph-break-type ~ div pre")
        older = soup.select("section:has(> #earlier-wordings) pre")
        heading = soup.h1 or soup.new_tag("h1", id="")
        self[name] = ReadPage(
            shown=[pre.get_text().removesuffix("\n") for pre in (*fields, *older)],
            title=soup.title.get_text() if soup.title else "",
            heading=(str(heading.get("id", "")), heading.get_text()),
            anchors={str(found["id"]) for found in soup.select("h2[id], h3[id]")},
            scripts=len(soup.select("article script")),
            facts=facts_of(soup, f"/{name}"),
        )
        return self[name]


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Registry, Path, Pages]:
    """A registry, its docs/, and what Jekyll makes of that."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "committed":  # docs/ is what a fresh rendering gives: a test below
        registry, docs = committed_registry(), ROOT / "docs"
    else:
        registry, docs = hostile_registry(), folder / "docs"
        write_docs(registry, docs)
    build_with_jekyll(docs, folder / "_site")
    return registry, docs, Pages(folder / "_site")


@pytest.fixture(scope="module")
def preview(built: tuple[Registry, Path, Pages]) -> dict[str, bytes]:
    """The same docs/, built without Ruby."""
    return render_preview(built[1])


def _part(items: Sequence[_Item], part: tuple[int, int]) -> Sequence[_Item]:
    number, of = part
    return items[number::of]


def texts_of(dated: DatedRevision) -> list[str]:
    """The fields of a wording, in order; a hint that the source has as one literal is one string."""
    hints = ["".join(group) for group in dated.hints]
    return [dated.revision.gb_type, dated.revision.context, dated.revision.explanation, *hints]


def expected(gb: GraphBreak) -> list[str]:
    newest, *older = (texts_of(dated) for dated in gb.revisions)
    labels = ("Type", "Context", "Explanation")
    whole = [
        "\n".join(
            f"{label}: {text}"
            for label, text in zip([*labels, *["Hint"] * len(fields[3:])], fields, strict=True)
            if text.strip()
        )
        for fields in older
    ]
    return [text for text in (*newest, *whole) if text.strip()]


@pytest.mark.parametrize(("built", "part"), BUILDS, indirect=["built"], scope="module")
def test_every_string_of_every_wording_is_in_its_page_unchanged(
    built: tuple[Registry, Path, Pages], part: tuple[int, int]
) -> None:
    registry, _, pages = built
    mine = _part(list(registry), part)
    wanted = {gb.gb_id: expected(gb) for gb in mine}
    assert {gb.gb_id: pages[page_link(gb)].shown for gb in mine} == wanted
    assert len(registry) in (593, len(HOSTILE))


@pytest.mark.parametrize(("built", "part"), BUILDS, indirect=["built"], scope="module")
def test_every_type_is_unchanged_in_title_heading_and_home_page(
    built: tuple[Registry, Path, Pages], part: tuple[int, int]
) -> None:
    registry, _, pages = built
    home = BeautifulSoup((pages.site / "index.html").read_bytes(), "html.parser")
    listed = {item.a["href"]: item.get_text() for item in home.select("ul.registry li") if item.a}
    assert len(listed) == len(registry)
    for gb in _part(list(registry), part):
        page = pages[page_link(gb)]
        assert listed[page_link(gb)].startswith(f"{gb.gb_id} — {gb.gb_type} ")
        assert page.heading == (gb.gb_id.lower(), f"{gb.gb_id}: {gb.gb_type}")
        assert page.anchors >= ANCHORS
        assert page.title == f"{gb.gb_id}: {gb.gb_type} · Graph Break Registry"
        assert page.scripts == 0


@pytest.mark.prove
@pytest.mark.parametrize(("built", "part"), BUILDS, indirect=["built"], scope="module")
def test_both_builds_say_the_same_on_every_page(
    built: tuple[Registry, Path, Pages], preview: dict[str, bytes], part: tuple[int, int]
) -> None:
    _, _, pages = built
    names = sorted(path.relative_to(pages.site).as_posix() for path in pages.site.rglob("*.html"))
    assert names == sorted(name for name in preview if name.endswith(".html"))
    mine = _part(names, part)
    assert [name for name in mine if page_facts(preview[name], f"/{name}", "html.parser") != pages[name].facts] == []


def test_the_committed_pages_are_what_the_committed_data_gives() -> None:
    assert main(["--root", str(ROOT), "--check"]) == 0


def test_torchs_split_hints_are_rejoined_in_the_committed_registry() -> None:
    """GB0124's hint stands in three fragments upstream, though its source is one literal."""
    breaks = {gb.gb_id: gb for gb in committed_registry()}
    assert len(breaks["GB0124"].newest.hints) == 3
    assert len(breaks["GB0124"].revisions[0].hints) == 1
    assert sum(any(len(group) > 1 for group in gb.revisions[0].hints) for gb in breaks.values()) >= 45
