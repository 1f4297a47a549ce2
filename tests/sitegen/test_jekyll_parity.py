"""The build without Ruby gives readers what Jekyll gives them: headings, links, code, text."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.preview import render_preview
from tests.sitegen.built_pages import PageFacts, page_facts
from tests.sitegen.fixture_site import HOSTILE, NOTE_PAGES, write_fixture_site
from tests.tools import build_with_jekyll

pytestmark = pytest.mark.jekyll

Builds = tuple[dict[str, bytes], dict[str, bytes]]

PAGES = (
    *("404.html", "dashboard.html", "index.html", "liquid.html"),
    *(f"gb/{anchor}.html" for anchor in HOSTILE),
    *NOTE_PAGES.values(),
)


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    """The fixture site as Jekyll builds it, and as the preview does."""
    folder = tmp_path_factory.mktemp("parity")
    write_fixture_site(folder / "docs")
    build_with_jekyll(folder / "docs", folder / "_site")
    return _read_folder(folder / "_site"), render_preview(folder / "docs")


def _read_folder(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _facts(builds: Builds, page: str) -> tuple[PageFacts, PageFacts]:
    jekyll, preview = builds
    return page_facts(jekyll[page], f"/{page}"), page_facts(preview[page], f"/{page}")


def test_both_builds_publish_the_same_files(builds: Builds) -> None:
    jekyll, preview = builds
    assert sorted(preview) == sorted(jekyll)


def test_files_without_front_matter_are_copied_byte_for_byte(builds: Builds) -> None:
    jekyll, preview = builds
    copied = [path for path in jekyll if not path.endswith(".html")]
    assert copied
    assert {path: preview[path] for path in copied} == {path: jekyll[path] for path in copied}


@pytest.mark.parametrize("page", PAGES)
def test_both_builds_of_a_page_say_the_same(builds: Builds, page: str) -> None:
    jekyll, preview = _facts(builds, page)
    assert preview == jekyll


@pytest.mark.parametrize("anchor", HOSTILE)
def test_registry_text_comes_through_both_builds_unchanged(builds: Builds, anchor: str) -> None:
    text = HOSTILE[anchor]
    for facts in _facts(builds, f"gb/{anchor}.html"):
        assert facts.headings[0] == ("h1", anchor, f"{anchor.upper()}: {' '.join(text.split())}".strip())
        assert facts.code.count(f"{text}\n") == 2 * (3 + 2)  # a pre and its code: three fields, two hints
        assert facts.title == f"{anchor.upper()}: {text} · Graph Break Registry"


@pytest.mark.parametrize("anchor", HOSTILE)
def test_a_page_has_the_anchors_that_torch_and_readers_link_to(builds: Builds, anchor: str) -> None:
    expected = {anchor, "graph-break-type", "context", "explanation", "hints", "releases", "additional-information"}
    for facts in _facts(builds, f"gb/{anchor}.html"):
        anchors = [heading[1] for heading in facts.headings if heading[1]]
        assert expected <= set(anchors)
        assert len(anchors) == len(set(anchors))


@pytest.mark.parametrize("anchor", HOSTILE)
def test_liquid_in_a_note_stays_text(builds: Builds, anchor: str) -> None:
    for facts in _facts(builds, f"gb/{anchor}.html"):
        assert "Nothing yet, {{ reader }} {% raw %}." in facts.text


def test_notes_render_as_their_authors_meant(builds: Builds) -> None:
    """Both builds could be wrong in the same way: a few results written down."""
    code = _facts(builds, NOTE_PAGES["code"])
    lists = _facts(builds, NOTE_PAGES["lists"])
    headings = _facts(builds, NOTE_PAGES["headings"])
    for facts in code:
        assert any('\techo "a tab, * stars *, __dunder__, trailing backslash" \\\n' in code for code in facts.code)
        assert "{{ x }}" in facts.code
    for facts in lists:
        assert facts.structure.count("ol") == 2 + 1  # the strip of releases is one
    for facts in headings:
        assert ("h4", "note-context", "Context") in facts.headings
        assert ("h3", "context", "Context") in facts.headings  # the page's own keeps its address
        assert (
            "h5",
            "note-what-to-do-use-torchwhere-or-torchcond",
            "What to do: use torch.where (or torch.cond)!",
        ) in facts.headings
