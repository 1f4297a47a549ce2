"""Every string of the registry reaches the reader exactly as upstream has it, through the real Jekyll."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from generate_site import main
from registry.merge import merge_registry
from registry.model import DatedRevision, GraphBreak, Registry
from sitegen.preview import render_preview
from sitegen.render import render_site
from tests.committed import committed_registry
from tests.conftest import ROOT
from tests.samples import HOSTILE, knowledge, release, revision
from tests.sitegen.built_pages import PageFacts, page_facts
from tests.tools import build_with_jekyll

ANCHORS = {"graph-break-type", "context", "explanation", "hints", "additional-information"}

pytestmark = [pytest.mark.jekyll, pytest.mark.slow]


def hostile_registry() -> Registry:
    """Every hostile string in every field of the newest wording, and of an older one."""
    older = {f"GB{index:04}": [revision(f"old {text}", text, text, (text, text))] for index, text in enumerate(HOSTILE)}
    newest = {
        gb_id: [revision(text, text, text, (text,)), *older[gb_id]] for gb_id, text in zip(older, HOSTILE, strict=True)
    }
    return merge_registry(knowledge(newest, releases=[release("2.8.0", older), release("2.9.0", newest)]))


def write_docs(registry: Registry, docs: Path) -> None:
    """The real theme around pages that are rendered afresh."""
    shutil.copytree(
        ROOT / "docs",
        docs,
        ignore=shutil.ignore_patterns(
            "GB*", "index.md", "dashboard.md", "categories", "categories.md", "releases.md", "data"
        ),
    )
    for name, text in render_site(registry, ROOT / "templates").items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_bytes(text.encode("utf-8"))


@pytest.fixture(scope="module", params=["committed", "hostile"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Registry, Path, Path]:
    registry = committed_registry() if request.param == "committed" else hostile_registry()
    folder = tmp_path_factory.mktemp(request.param)
    write_docs(registry, folder / "docs")
    build_with_jekyll(folder / "docs", folder / "_site")
    return registry, folder / "docs", folder / "_site"


def texts_of(dated: DatedRevision) -> list[str]:
    """The fields of a wording, in order; a hint that the source has as one literal is one string."""
    hints = ["".join(group) for group in dated.hints]
    return [dated.revision.gb_type, dated.revision.context, dated.revision.explanation, *hints]


def shown(page: bytes) -> list[str]:
    """The newest wording as it stands; of an older one, what is left without the words that came later."""
    soup = BeautifulSoup(page, "html.parser")
    for added in soup.select(".verbatim.old ins"):
        added.decompose()
    found = [element.get_text() for element in soup.select("p.registered, li.registered, .verbatim.old")]
    return [text for text in found if text.strip()]


def expected(gb: GraphBreak) -> list[str]:
    newest, *older = (texts_of(dated) for dated in gb.revisions)
    folded = [text for (*fields,) in older for text in (*fields[:3], "\n".join(fields[3:]))]
    return [text for text in (*newest, *folded) if text.strip()]


def test_every_string_of_every_wording_is_in_its_page_unchanged(built: tuple[Registry, Path, Path]) -> None:
    registry, _, site = built
    wrong = [
        (gb.gb_id, want, got)
        for gb in registry
        for want, got in [(expected(gb), shown((site / "gb" / f"{gb.gb_id.lower()}.html").read_bytes()))]
        if want != got
    ]
    assert wrong == []
    assert len(registry) in (593, len(HOSTILE))


def test_every_type_is_unchanged_in_title_heading_and_home_page(built: tuple[Registry, Path, Path]) -> None:
    registry, _, site = built
    home = BeautifulSoup((site / "index.html").read_bytes(), "html.parser")
    listed = {item.a["href"]: item.get_text() for item in home.select("ul.registry li") if item.a}
    assert len(listed) == len(registry)
    for gb in registry:
        page = BeautifulSoup((site / "gb" / f"{gb.gb_id.lower()}.html").read_bytes(), "html.parser")
        assert listed[f"gb/{gb.gb_id.lower()}.html"] == f"{gb.gb_id} — {gb.gb_type}"
        assert page.h1 is not None
        assert page.h1.get_text() == f"{gb.gb_id}: {gb.gb_type}"
        assert page.h1["id"] == gb.gb_id.lower()
        assert {str(heading["id"]) for heading in page.select("h2[id], h3[id]")} >= ANCHORS
        assert page.title is not None
        assert page.title.get_text() == f"{gb.gb_id}: {gb.gb_type} · Graph Break Registry"
        assert not page.select("article script")


def test_both_builds_say_the_same_on_every_page(built: tuple[Registry, Path, Path]) -> None:
    _, docs, site = built
    preview = render_preview(docs)
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    assert pages == sorted(name for name in preview if name.endswith(".html"))
    assert [name for name in pages if facts(preview[name], name) != facts((site / name).read_bytes(), name)] == []


def facts(page: bytes, name: str) -> PageFacts:
    return page_facts(page, f"/{name}", parser="html.parser")


def test_the_committed_pages_are_what_the_committed_data_gives() -> None:
    assert main(["--root", str(ROOT), "--check"]) == 0


def test_torchs_split_hints_are_rejoined_in_the_committed_registry() -> None:
    """GB0124's hint stands in three fragments upstream, though its source is one literal."""
    breaks = {gb.gb_id: gb for gb in committed_registry()}
    assert len(breaks["GB0124"].newest.hints) == 3
    assert len(breaks["GB0124"].revisions[0].hints) == 1
    assert sum(any(len(group) > 1 for group in gb.revisions[0].hints) for gb in breaks.values()) >= 45
