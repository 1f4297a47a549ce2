"""The build without Ruby gives readers what Jekyll gives them: headings, links, code, text."""

from __future__ import annotations

from pathlib import Path

import pytest

from sitegen.preview import render_preview
from tests.sitegen.built_pages import PageFacts, page_facts
from tests.sitegen.fixture_site import HOSTILE, NOTES, write_fixture_site
from tests.tools import build_with_jekyll

pytestmark = pytest.mark.jekyll

Builds = tuple[dict[str, bytes], dict[str, bytes]]

PAGES = (
    *("404.html", "dashboard.html", "index.html", "liquid.html"),
    *(f"gb/{anchor}.html" for anchor in HOSTILE),
    *(f"gb/note-{note.stem}.html" for note in NOTES),
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
        assert len(facts.verbatim) == 8
        assert set(facts.verbatim) == {text}
        assert facts.headings[0] == ("h1", anchor, " ".join(text.split()))
        assert facts.code.count(text) == 3  # in a link, in a pre, and that pre's code
        assert facts.title == f"{text} · Graph Break Registry"
        assert facts.description == text


@pytest.mark.parametrize("anchor", HOSTILE)
def test_a_page_has_the_anchors_that_torch_and_readers_link_to(builds: Builds, anchor: str) -> None:
    expected = [anchor, "graph-break-type", "context", "explanation", "hints", "releases", "additional-information"]
    for facts in _facts(builds, f"gb/{anchor}.html"):
        assert [heading[1] for heading in facts.headings] == expected


@pytest.mark.parametrize("anchor", HOSTILE)
def test_liquid_in_a_note_stays_text(builds: Builds, anchor: str) -> None:
    for facts in _facts(builds, f"gb/{anchor}.html"):
        assert "Nothing yet, {{ reader }} {% raw %}." in facts.text


def test_notes_render_as_their_authors_meant(builds: Builds) -> None:
    """Both builds could be wrong in the same way: a few results written down."""
    code = _facts(builds, "gb/note-code.html")
    lists = _facts(builds, "gb/note-lists.html")
    headings = _facts(builds, "gb/note-headings.html")
    for facts in code:
        assert any('\techo "a tab, * stars *, __dunder__, trailing backslash" \\\n' in code for code in facts.code)
        assert "{{ x }}" in facts.code
    for facts in lists:
        assert facts.structure.count("ol") == 2
        assert facts.structure.count("ul") == 2 + 4  # two in the generated part, four in the note
    for facts in headings:
        assert ("h2", "context-1", "Context") in facts.headings
        assert (
            "h3",
            "what-to-do-use-torchwhere-or-torchcond",
            "What to do: use torch.where (or torch.cond)!",
        ) in facts.headings
