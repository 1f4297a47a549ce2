"""Notes through the whole command: never a byte of them lost, never a page touched that can't be read safely."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import sitegen.generation
import sitegen.render
from registry.model import Registry, Revision
from registry.notes import END, START
from sitegen.stamp import Keep
from tests.checkout import (
    Finished,
    Registered,
    case_blind_disk,
    files,
    generate_here,
    in_block,
    make_checkout,
    make_wordings,
    page_of,
    registry_json,
    reworded,
    run_generate,
    write_note,
)

pytestmark = pytest.mark.slow

WORDINGS = make_wordings()
REWORDED = reworded(WORDINGS)
MARKERS = START.encode(), END.encode()

NOTES = {
    "one line": b"Seen with a custom optimizer.",
    "no final line break before END's own": b"text",
    "LF": b"one\ntwo\n\n- a list\n",
    "CRLF": b"one\r\ntwo\r\n",
    "CRLF to the end": b"one\r\ntwo\r",
    "mixed": b"one\r\ntwo\nthree\rfour\n",
    "tabs": b"\tindented\n\t\ttwice\n",
    "trailing spaces": b"two blanks  \nthen more   \n  ",
    "blank lines": b"\n\n\ntext\n\n\n",
    "nothing but blanks": b" \n\t\n\n",
    "a byte order mark": b"\xef\xbb\xbftext\n",
    "Liquid": b"{{ site.title }} {% raw %} {% if x %} {{ unclosed",
    "emoji": "naïve 🔥 ✓ 漢字 \u2028 \u0085 end".encode(),
    "HTML": b"<details>\n<summary>&amp; more</summary>\n</details>\n",
    "front matter": b"---\ndigest: 00000000000000000000000000000000\nnote_for: nothing\n---\n",
    "our own headings": b'<h2 id="hints">Hints</h2>\n\n# GB0003\n',
    "markers in a fence": b"```html\n%b\n%b\n```\n" % MARKERS,
    "markers in a tilde fence": b"~~~\n%b\n```\n%b\n~~~\n" % MARKERS[::-1],
    "markers in a sentence": b"Write below `%b`, above `%b`.\n" % MARKERS,
    "NUL and escape": b"\x00 \x1b[31m\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "checkout")


@pytest.fixture
def upstream(tmp_path: Path) -> str:
    """A registry in which every page has another wording than on disk."""
    return registry_file(tmp_path, REWORDED)


def registry_file(folder: Path, wordings: Registered) -> str:
    path = folder / "registry.json"
    path.write_bytes(registry_json(wordings))
    return str(path)


def pages(checkout: Path) -> dict[str, bytes]:
    return files(checkout / "docs" / "gb")


def is_reworded(page: bytes) -> bool:
    """Whether the current explanation is the new one; earlier ones stand below their own heading."""
    return re.search(rb"\n### Explanation\n\n```text\n[^\n]* reworded\n```", page) is not None


def line_of(content: bytes, text: bytes) -> int:
    """The number of the line that an editor shows it on."""
    return content[: content.index(text)].count(b"\n") + 1


# Kept


def test_every_note_survives_a_rewording_byte_for_byte(checkout: Path, upstream: str) -> None:
    for gb_id, note in zip(WORDINGS, NOTES.values(), strict=False):
        write_note(page_of(checkout, gb_id), note)
    done = run_generate(checkout, "--source", upstream)
    assert (done.code, done.stderr) == (0, "")
    assert "11 notes kept" in done.stdout  # one of the twelve is nothing but blanks
    for gb_id, note in zip(WORDINGS, NOTES.values(), strict=False):
        page = page_of(checkout, gb_id).read_bytes()
        assert is_reworded(page)
        assert in_block(note) in page


@pytest.mark.parametrize("kinds", [[*NOTES][::2], [*NOTES][1::2]], ids=["half", "the others"])
def test_notes_survive_a_rewording_and_the_way_back(checkout: Path, upstream: str, kinds: list[str]) -> None:
    noted = {kind: page_of(checkout, gb_id) for gb_id, kind in zip(WORDINGS, kinds, strict=False)}
    assert [*noted] == kinds
    for kind, page in noted.items():
        write_note(page, NOTES[kind])
    assert generate_here(checkout, "--source", "snapshot").code == 0
    with_note = {kind: page.read_bytes() for kind, page in noted.items()}
    assert [kind for kind in kinds if in_block(NOTES[kind]) not in with_note[kind]] == []
    assert generate_here(checkout, "--source", upstream).code == 0
    for kind, page in noted.items():
        assert is_reworded(page.read_bytes()), kind
        assert in_block(NOTES[kind]) in page.read_bytes(), kind
    assert generate_here(checkout, "--source", "snapshot").code == 0
    assert {kind: page.read_bytes() for kind, page in noted.items()} == with_note


@pytest.mark.parametrize("gap", [b"", b"\n", b"\n\n", b"\n \t\n", b"\r\n\r\n"])
def test_an_empty_block_is_never_a_problem(checkout: Path, upstream: str, gap: bytes) -> None:
    page = page_of(checkout, "GB0003")
    page.write_bytes(page.read_bytes().replace(in_block(b"\n"), MARKERS[0] + b"\n" + gap + MARKERS[1]))
    assert generate_here(checkout, "--source", upstream).code == 0
    assert is_reworded(page.read_bytes())
    again = page.read_bytes()
    assert "nothing rendered" in generate_here(checkout, "--source", upstream).stdout
    assert page.read_bytes() == again


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a byte order mark"])
def test_a_page_that_an_editor_saved_with_windows_line_ends_is_not_refused(
    checkout: Path, upstream: str, bom: bytes
) -> None:
    for path in sorted((checkout / "docs" / "gb").iterdir()):
        if path.name == "GB0003.md":
            write_note(path, b"my note\n\n- a list\n")
        path.write_bytes(bom + path.read_bytes().replace(b"\n", b"\r\n"))
    for source in (upstream, "snapshot"):
        done = generate_here(checkout, "--source", source)
        assert (done.code, done.stderr) == (0, "")
        assert in_block(b"my note\r\n\r\n- a list\r\n\r") in page_of(checkout, "GB0003").read_bytes()
    assert "\r" not in page_of(checkout, "GB0003").read_text("utf-8").split(START)[0]
    assert generate_here(checkout, "--check").code == 0


def test_the_mode_of_a_page_survives(checkout: Path, upstream: str) -> None:
    page_of(checkout, "GB0003").chmod(0o640)
    assert generate_here(checkout, "--source", upstream).code == 0
    assert page_of(checkout, "GB0003").stat().st_mode & 0o777 == 0o640


def test_a_note_that_is_saved_while_the_pages_are_rendered_is_not_lost(
    checkout: Path, upstream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(checkout, "GB0003")
    render = sitegen.render.render_site

    def render_slowly(registry: Registry, templates: Path, keep: Keep) -> dict[str, str]:
        write_note(page, b"typed just now")
        return render(registry, templates, keep)

    with monkeypatch.context() as patched:
        patched.setattr(sitegen.generation, "render_site", render_slowly)
        generate_here(checkout, "--source", upstream)
    assert in_block(b"typed just now") in page.read_bytes()
    assert generate_here(checkout, "--source", upstream).code == 0
    assert in_block(b"typed just now") in page.read_bytes()
    assert is_reworded(page.read_bytes())


def test_a_note_that_is_saved_under_the_other_spelling_meanwhile_is_not_lost(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = checkout / "docs" / "gb" / "gb0007.md"
    twin.write_bytes(upstream_page("GB0007"))
    render = sitegen.render.render_site

    def render_slowly(registry: Registry, templates: Path, keep: Keep) -> dict[str, str]:
        write_note(twin, b"typed just now")
        return render(registry, templates, keep)

    with monkeypatch.context() as patched:
        patched.setattr(sitegen.generation, "render_site", render_slowly)
        generate_here(checkout, "--source", "snapshot")
    assert generate_here(checkout, "--source", "snapshot").code == 0
    assert in_block(b"typed just now") in page_of(checkout, "GB0007").read_bytes()


# Another meaning


def with_type(gb_id: str, gb_type: str) -> Registered:
    revision: Revision = WORDINGS[gb_id][0]
    return {**WORDINGS, gb_id: (replace(revision, gb_type=gb_type), revision)}


def test_a_note_for_an_id_that_took_another_meaning_stays_under_a_warning(checkout: Path, tmp_path: Path) -> None:
    page = page_of(checkout, "GB0003")
    write_note(page, b"about the old meaning")
    source = registry_file(tmp_path, with_type("GB0003", "Something else altogether"))
    for _ in range(2):
        done = generate_here(checkout, "--source", source, "--overwrite", "GB0003")
        assert (done.code, done.stderr) == (0, "")
        text = page.read_text("utf-8")
        assert in_block(b"about the old meaning") in page.read_bytes()
        assert '\nnote_for: "Made-up break 3"\n' in text
        assert 'This note was written when GB0003 had the title "Made-up break 3".' in text
        assert 'title: "GB0003: Something else altogether"' in text


def test_whoever_has_read_the_note_again_says_so_in_note_for(checkout: Path, tmp_path: Path) -> None:
    page = page_of(checkout, "GB0003")
    write_note(page, b"about both meanings")
    source = registry_file(tmp_path, with_type("GB0003", "Something else"))
    assert generate_here(checkout, "--source", source).code == 0
    page.write_bytes(page.read_bytes().replace(b'note_for: "Made-up break 3"', b"note_for: Something else"))
    assert generate_here(checkout, "--source", source).code == 0
    text = page.read_text("utf-8")
    assert '\nnote_for: "Something else"\n' in text
    assert "This note was written when" not in text
    assert in_block(b"about both meanings") in page.read_bytes()


def test_an_empty_block_was_written_for_no_meaning(checkout: Path, tmp_path: Path) -> None:
    source = registry_file(tmp_path, with_type("GB0003", "Something else"))
    assert generate_here(checkout, "--source", source).code == 0
    text = page_of(checkout, "GB0003").read_text("utf-8")
    assert '\nnote_for: "Something else"\n' in text
    assert "This note was written when" not in text


# Refused


def assert_left_alone(
    checkout: Path, before: dict[str, bytes], done: Finished, name: str, line: int, *words: str
) -> None:
    """That page is as it was, said in one line with its number; the other pages were written."""
    assert done.code == 1
    assert "Traceback" not in done.stderr
    report, count = done.stderr.splitlines()
    assert report.startswith(f"docs/gb/{name}:{line}: "), report
    for word in words:
        assert word in report
    assert count == "1 problem"
    after = pages(checkout)
    same_id = {file for file in before if file.upper() == name.upper()}
    for file in same_id:
        assert after[file] == before[file]
    others = [content for file, content in after.items() if file not in same_id]
    assert len(others) >= 11
    assert all(map(is_reworded, others))


HINTS = b"### Hints"

Damage = Callable[[bytes], tuple[bytes, bytes]]
"""A page -> the damaged page, and the text whose line is to be reported."""


def without_end(page: bytes) -> tuple[bytes, bytes]:
    return page.replace(MARKERS[1], b""), MARKERS[0]


def without_start(page: bytes) -> tuple[bytes, bytes]:
    return page.replace(MARKERS[0] + b"\n", b""), MARKERS[1]


def without_both(page: bytes) -> tuple[bytes, bytes]:
    return page.replace(MARKERS[0], b"").replace(MARKERS[1], b""), b"---"


def swapped(page: bytes) -> tuple[bytes, bytes]:
    return page.replace(MARKERS[0], b"@").replace(MARKERS[1], MARKERS[0]).replace(b"@", MARKERS[1]), MARKERS[1]


def second_start_in_note(page: bytes) -> tuple[bytes, bytes]:
    again = b"<!-- ADDITIONAL INFORMATION START again -->"
    return page.replace(b"my note", b"my note\n" + again), again


def second_end_in_note(page: bytes) -> tuple[bytes, bytes]:
    again = b"<!--  ADDITIONAL INFORMATION END  -->"
    return page.replace(MARKERS[1], MARKERS[1] + b"\nmore\n" + again), again


def nested_block(page: bytes) -> tuple[bytes, bytes]:
    again = b"<!-- ADDITIONAL INFORMATION START inner -->"
    return page.replace(b"my note", b"my note\n" + again + b"\ninner\n" + MARKERS[1]), again


def end_in_an_open_fence(page: bytes) -> tuple[bytes, bytes]:
    return page.replace(b"my note", b"```\nmy note") + b"```\n", MARKERS[0]


def opened(text: bytes) -> Damage:
    return lambda page: (page.replace(b"my note", b"my note\n\n" + text), text)


MALFORMED: dict[str, tuple[Damage, str]] = {
    "folded text that is open": (
        opened(b"<details>"),
        "the note opens <details> and does not close it; add `</details>`",
    ),
    "an end without a beginning": (opened(b"</div>"), "the note closes <div> and has not opened it; remove `</div>`"),
    "a comment that is open": (opened(b"<!-- later"), "the note opens `<!--` and does not close it; add `-->`"),
    "kramdown's own block": (opened(b"{::comment}"), "the note opens `{::comment}` and does not close it"),
    "a fence that is open": (
        lambda page: (opened(b"```python\nx = 1")(page)[0], MARKERS[0]),
        "or close the code fence",
    ),
    "END is missing": (without_end, "the END marker is missing; add the line"),
    "START is missing": (without_start, "the START marker is missing; add the line"),
    "both are missing": (without_both, "both markers are missing; put the note between"),
    "START and END are swapped": (swapped, "the END marker stands above the START marker; swap them"),
    "a second START": (second_start_in_note, "a second START marker; keep one block"),
    "a second END": (second_end_in_note, "a second END marker; keep one block"),
    "a block in the block": (nested_block, "a second START marker; keep one block"),
    "END inside a fence": (end_in_an_open_fence, "the END marker is missing"),
}


@pytest.mark.parametrize(
    ("what", "line_end"),
    [*((what, b"\n") for what in MALFORMED), ("END is missing", b"\r\n"), ("a second END", b"\r\n")],
)
def test_a_page_with_malformed_markers_is_left_as_it_is(
    checkout: Path, upstream: str, what: str, line_end: bytes
) -> None:
    damage, words = MALFORMED[what]
    page = page_of(checkout, "GB0003")
    write_note(page, b"my note")
    damaged, reported = damage(page.read_bytes())
    page.write_bytes(damaged.replace(b"\n", line_end))
    before = pages(checkout)
    done = generate_here(checkout, "--source", upstream)
    assert_left_alone(checkout, before, done, "GB0003.md", line_of(damaged, reported), words)


def above_the_title(page: bytes) -> bytes:
    return page.replace(b"\n---\n", b"\n---\nMy own words.\n\n", 1)


def between_sections(page: bytes) -> bytes:
    return page.replace(HINTS, b"My own words.\n\n" + HINTS, 1)


def in_a_generated_line(page: bytes) -> bytes:
    return page.replace(HINTS, HINTS + b" My own words.", 1)


def above_start(page: bytes) -> bytes:
    return page.replace(MARKERS[0], b"My own words.\n" + MARKERS[0])


def after_end(page: bytes) -> bytes:
    return page + b"\nMy own words.\n"


def in_front_matter(page: bytes) -> bytes:
    return page.replace(b"permalink:", b"mine: My own words.\npermalink:", 1)


PLACES = (above_the_title, between_sections, in_a_generated_line, above_start, after_end, in_front_matter)


@pytest.mark.parametrize("place", PLACES)
def test_text_outside_the_markers_is_noticed(checkout: Path, place: Callable[[bytes], bytes]) -> None:
    page = page_of(checkout, "GB0003")
    page.write_bytes(place(page.read_bytes()))
    before = pages(checkout)
    done = generate_here(checkout, "--source", "snapshot")
    line = line_of(before["GB0003.md"], b"My own words.")
    assert done.code == 1
    assert done.stderr.startswith(f"docs/gb/GB0003.md:{line}: text outside the markers was changed; ")
    assert pages(checkout) == before


@pytest.mark.parametrize("place", PLACES)
def test_text_outside_the_markers_is_noticed_also_when_upstream_reworded_the_page(
    checkout: Path, upstream: str, place: Callable[[bytes], bytes]
) -> None:
    page = page_of(checkout, "GB0003")
    write_note(page, b"my note\non two lines\n")
    page.write_bytes(place(page.read_bytes()))
    before = pages(checkout)
    done = generate_here(checkout, "--source", upstream)
    line = line_of(before["GB0003.md"], b"My own words.")
    assert_left_alone(checkout, before, done, "GB0003.md", line, "move it between them", "--overwrite GB0003")


def test_a_generated_line_that_was_deleted_is_noticed(checkout: Path, upstream: str) -> None:
    page = page_of(checkout, "GB0003")
    page.write_bytes(page.read_bytes().replace(HINTS + b"\n", b"", 1))
    before = pages(checkout)
    done = generate_here(checkout, "--source", upstream)
    assert done.code == 1
    assert re.match(r"docs/gb/GB0003.md:\d+: text outside the markers was changed; ", done.stderr)
    assert pages(checkout)["GB0003.md"] == before["GB0003.md"]


def test_a_page_that_is_not_utf_8_is_left_as_it_is(checkout: Path, upstream: str) -> None:
    page = page_of(checkout, "GB0003")
    write_note(page, b"one\n\xfcber\n")
    before = pages(checkout)
    done = generate_here(checkout, "--source", upstream)
    line = line_of(before["GB0003.md"], b"\xfcber")
    assert_left_alone(checkout, before, done, "GB0003.md", line, "not UTF-8; save the file as UTF-8")


def test_every_problem_is_reported_in_one_run(checkout: Path, upstream: str) -> None:
    for gb_id, place in zip(WORDINGS, PLACES, strict=False):
        page_of(checkout, gb_id).write_bytes(place(page_of(checkout, gb_id).read_bytes()))
    page_of(checkout, "GB0010").write_bytes(b"\xff")
    page_of(checkout, "GB0011").write_bytes(b"")
    done = run_generate(checkout, "--source", upstream, env={"LC_ALL": "C"})
    assert done.code == 1
    *reports, count = done.stderr.splitlines()
    assert count == "8 problems"
    assert [report[:16] for report in reports] == [
        *(f"docs/gb/{gb_id}.m" for gb_id in [*WORDINGS][: len(PLACES)]),
        "docs/gb/GB0010.m",
        "docs/gb/GB0011.m",
    ]


def test_a_refused_page_is_reported_again_by_the_next_run(checkout: Path, upstream: str) -> None:
    page_of(checkout, "GB0003").write_bytes(after_end(page_of(checkout, "GB0003").read_bytes()))
    first = generate_here(checkout, "--source", upstream)
    second = generate_here(checkout, "--source", upstream)
    assert first.code == second.code == 1
    assert first.stderr == second.stderr
    assert "0 files written" in second.stdout


def test_a_refused_page_still_counts_as_a_page_with_a_note(checkout: Path) -> None:
    page = page_of(checkout, "GB0003")
    write_note(page, b"my note")
    assert generate_here(checkout, "--source", "snapshot").code == 0
    dashboard = checkout / "docs" / "dashboard.md"
    before = dashboard.read_bytes()
    page.write_bytes(after_end(page.read_bytes()))
    assert generate_here(checkout, "--source", "snapshot").code == 1
    assert dashboard.read_bytes() == before


@pytest.mark.parametrize("name", ["GB9999.md", "gb9999.md"])
def test_a_page_of_an_id_that_nobody_knows_is_left_as_it_is(checkout: Path, upstream: str, name: str) -> None:
    orphan = page_of(checkout, "GB0003").read_bytes()
    (checkout / "docs" / "gb" / name).write_bytes(orphan)
    done = generate_here(checkout, "--source", upstream)
    assert done.code == 1
    assert done.stderr.splitlines() == [
        f"docs/gb/{name}:1: no such graph break; rename or delete this page",
        "1 problem",
    ]
    assert (checkout / "docs" / "gb" / name).read_bytes() == orphan
    assert is_reworded(page_of(checkout, "GB0003").read_bytes())


def test_an_id_that_is_newer_than_the_newest_release_keeps_its_upstream_page_and_is_marked(checkout: Path) -> None:
    page = checkout / "docs" / "gb" / "gb9999.md"
    content = upstream_page("GB0007", b"their note").replace(b"GB0007", b"GB9999").replace(b"gb0007", b"gb9999")
    page.write_bytes(content)
    done = generate_here(checkout, "--source", "snapshot", "--html", str(checkout / "_site"))
    assert done.code == 0
    assert "warning: docs/gb/gb9999.md:1: GB9999 is not in the newest release; its page is kept as it is" in done.stderr
    assert page.read_bytes() == content
    built = (checkout / "_site" / "gb" / "gb9999.html").read_text("utf-8")
    assert "Not in the newest release" in built
    assert "their note" in built
    assert "Not in the newest release" not in (checkout / "_site" / "gb" / "gb0003.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["GB0003 (copy).md", "README.md", "GB3.md", "notes about GB0003.md"])
def test_a_file_that_is_no_page_is_left_as_it_is(checkout: Path, upstream: str, name: str) -> None:
    (checkout / "docs" / "gb" / name).write_bytes(b"mine")
    done = generate_here(checkout, "--source", upstream)
    assert done.code == 1
    assert done.stderr.splitlines()[0].startswith(
        f"docs/gb/{name}:1: not the name of a page (GB0042.md); rename or delete"
    )
    assert (checkout / "docs" / "gb" / name).read_bytes() == b"mine"
    assert is_reworded(page_of(checkout, "GB0003").read_bytes())


def test_a_folder_where_a_page_should_be_is_a_problem_with_that_page_alone(checkout: Path, upstream: str) -> None:
    page_of(checkout, "GB0003").unlink()
    page_of(checkout, "GB0003").mkdir()
    done = generate_here(checkout, "--source", upstream)
    assert done.code == 1
    assert done.stderr.startswith("docs/gb/GB0003.md:1: ")
    assert is_reworded(page_of(checkout, "GB0004").read_bytes())


# Pages of the upstream site


def upstream_page(gb_id: str, note: bytes = b"\n", *, link: bool = True, hints: bool = True) -> bytes:
    """A page as the existing site's generator writes it."""
    revision = WORDINGS[gb_id][0]
    listed = "\n".join(f"- {hint}" for hint in revision.hints) if hints else "*No hints provided.*"
    edit = f"https://github.com/meta-pytorch/compile-graph-break-site/edit/main/docs/gb/{gb_id.lower()}.md"
    lines = [
        "---",
        "layout: default",
        "---",
        f"# {gb_id}",
        "",
        "## Graph-Break Type",
        "*Short name describing what triggered the graph break*",
        "",
        revision.gb_type,
        "",
        "## Context",
        "*Values or code snippet captured at the break point*",
        "",
        revision.context,
        "",
        "## Explanation",
        "*Explanation of why the graph break was triggered*",
        "",
        revision.explanation,
        "",
        "## Hints",
        "*Hints on how to resolve the graph break*",
        "",
        listed,
        "",
        "## Additional Information",
        "",
    ]
    tail = f"\n\n[Click here to add Additional Info]({edit})\n" if link else "\n"
    return "\n".join(lines).encode() + in_block(note) + tail.encode() + b"\n[Back to Registry](../index.html)\n"


@pytest.mark.parametrize(
    "kind", ["CRLF", "tabs", "Liquid", "emoji", "markers in a fence", "no final line break before END's own"]
)
def test_a_page_of_the_upstream_site_is_taken_over_whole(checkout: Path, upstream: str, kind: str) -> None:
    page_of(checkout, "GB0007").unlink()
    (checkout / "docs" / "gb" / "gb0007.md").write_bytes(upstream_page("GB0007", NOTES[kind]))
    done = generate_here(checkout, "--source", upstream)
    assert (done.code, done.stderr) == (0, "")
    assert "1 note kept" in done.stdout
    after = pages(checkout)
    assert "gb0007.md" not in after
    assert in_block(NOTES[kind]) in after["GB0007.md"]
    assert is_reworded(after["GB0007.md"])
    assert b'\nnote_for: "Made-up break 7"\n' in after["GB0007.md"]
    assert "nothing rendered" in generate_here(checkout, "--source", upstream).stdout


@pytest.mark.parametrize(
    "shape",
    [
        upstream_page("GB0007", b"my note", link=False),
        upstream_page("GB0007", b"my note", hints=False),
        upstream_page("GB0007", b"my note").replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + upstream_page("GB0007", b"my note"),
        upstream_page("GB0007", b"my note").rstrip(b"\n"),
        upstream_page("GB0007", b"my note").replace(b"layout: default\n", b"layout: default\ntitle: GB0007\n"),
    ],
    ids=["no link", "no hints", "CRLF", "BOM", "no final line break", "a title"],
)
def test_the_upstream_site_has_pages_of_several_shapes(checkout: Path, shape: bytes) -> None:
    page_of(checkout, "GB0007").unlink()
    (checkout / "docs" / "gb" / "gb0007.md").write_bytes(shape)
    done = generate_here(checkout, "--source", "snapshot")
    assert (done.code, done.stderr) == (0, "")
    assert b"\nmy note" in page_of(checkout, "GB0007").read_bytes()
    assert "gb0007.md" not in pages(checkout)


def test_a_whole_upstream_checkout_is_taken_over(checkout: Path) -> None:
    for gb_id in WORDINGS:
        page_of(checkout, gb_id).unlink()
        (checkout / "docs" / "gb" / f"{gb_id.lower()}.md").write_bytes(upstream_page(gb_id, f"note {gb_id}".encode()))
    done = generate_here(checkout, "--source", "snapshot")
    assert (done.code, done.stderr) == (0, "")
    assert "12 notes kept" in done.stdout
    after = pages(checkout)
    assert after.keys() == {f"{gb_id}.md" for gb_id in WORDINGS}
    assert all(in_block(f"note {gb_id}".encode()) in after[f"{gb_id}.md"] for gb_id in WORDINGS)


def test_a_page_of_the_upstream_site_keeps_the_type_its_note_was_written_for(checkout: Path, tmp_path: Path) -> None:
    page_of(checkout, "GB0007").unlink()
    (checkout / "docs" / "gb" / "gb0007.md").write_bytes(upstream_page("GB0007", b"my note"))
    source = registry_file(tmp_path, with_type("GB0007", "Something else"))
    assert generate_here(checkout, "--source", source).code == 0
    page = page_of(checkout, "GB0007").read_bytes()
    assert b'\nnote_for: "Made-up break 7"\n' in page
    assert b"This note was written when GB0007 had the title" in page


FOREIGN = {
    "above the title": (b"# GB0007", b"Own words.\n\n# GB0007"),
    "between sections": (b"## Hints", b"Own words.\n\n## Hints"),
    "above START": (MARKERS[0], b"Own words.\n" + MARKERS[0]),
    "after END": (MARKERS[1], MARKERS[1] + b"\nOwn words."),
    "a foreign link": (b"[Back to Registry](../index.html)", b"[Own words.](https://example.org/)"),
}


@pytest.mark.parametrize("place", FOREIGN)
def test_a_page_of_the_upstream_site_with_foreign_text_is_refused(checkout: Path, upstream: str, place: str) -> None:
    page_of(checkout, "GB0007").unlink()
    page = upstream_page("GB0007", b"my note\non two lines").replace(*FOREIGN[place])
    (checkout / "docs" / "gb" / "gb0007.md").write_bytes(page)
    before = pages(checkout)
    done = generate_here(checkout, "--source", upstream)
    assert_left_alone(
        checkout, before, done, "gb0007.md", line_of(page, b"Own words."), "Own words.", "move it between the markers"
    )
    assert not page_of(checkout, "GB0007").exists()


def test_foreign_text_on_an_upstream_page_can_be_dropped(checkout: Path) -> None:
    page_of(checkout, "GB0007").unlink()
    page = upstream_page("GB0007", b"my note") + b"Own words.\n"
    (checkout / "docs" / "gb" / "gb0007.md").write_bytes(page)
    done = generate_here(checkout, "--source", "snapshot", "--overwrite", "GB0007")
    assert (done.code, done.stderr) == (0, "")
    assert "gb0007.md" not in pages(checkout)
    assert in_block(b"my note") in page_of(checkout, "GB0007").read_bytes()
    assert b"Own words." not in page_of(checkout, "GB0007").read_bytes()


# A name in both cases


@pytest.mark.parametrize(
    ("ours", "theirs", "kept"),
    [
        (b"the same note\n", b"the same note\n", b"the same note\n"),
        (b"the same note", b"\nthe same note\r\n", b"the same note"),
        (b"ours alone", b"\n", b"ours alone"),
        (b"\n", b"theirs alone\r\n", b"theirs alone\r\n"),
        (b"\n", b"\n", b"\n"),
    ],
)
def test_both_cases_of_a_name_become_one_page(checkout: Path, ours: bytes, theirs: bytes, kept: bytes) -> None:
    page = page_of(checkout, "GB0007")
    page.write_bytes(page.read_bytes().replace(in_block(b"\n"), in_block(ours)))
    (checkout / "docs" / "gb" / "gb0007.md").write_bytes(upstream_page("GB0007", theirs))
    done = generate_here(checkout, "--source", "snapshot")
    assert (done.code, done.stderr) == (0, "")
    assert "gb0007.md" not in pages(checkout)
    assert in_block(kept) in page.read_bytes()
    assert generate_here(checkout, "--check").code == 0


def test_both_cases_of_a_name_with_different_notes_are_refused_and_both_stay(checkout: Path, upstream: str) -> None:
    write_note(page_of(checkout, "GB0007"), b"one note")
    (checkout / "docs" / "gb" / "gb0007.md").write_bytes(upstream_page("GB0007", b"another note"))
    before = pages(checkout)
    done = generate_here(checkout, "--source", upstream)
    assert_left_alone(checkout, before, done, "gb0007.md", 1, "GB0007.md holds another note", "move one note into")


def test_of_three_spellings_no_note_is_lost(checkout: Path, upstream: str) -> None:
    """Ours has none, the other two differ."""
    (checkout / "docs" / "gb" / "Gb0007.md").write_bytes(upstream_page("GB0007", b"one note"))
    (checkout / "docs" / "gb" / "gb0007.md").write_bytes(upstream_page("GB0007", b"another note"))
    before = pages(checkout)
    done = generate_here(checkout, "--source", upstream)
    assert_left_alone(checkout, before, done, "gb0007.md", 1, "holds another note")


def test_one_case_malformed_leaves_both_as_they_are(checkout: Path, upstream: str) -> None:
    write_note(page_of(checkout, "GB0007"), b"one note")
    (checkout / "docs" / "gb" / "gb0007.md").write_bytes(upstream_page("GB0007").replace(MARKERS[1], b""))
    before = pages(checkout)
    done = generate_here(checkout, "--source", upstream)
    line = line_of(before["gb0007.md"], MARKERS[0])
    assert_left_alone(checkout, before, done, "gb0007.md", line, "the END marker is missing")


@pytest.mark.slow  # quick itself, but needs what `make tools` installs
def test_on_a_disk_that_ignores_case_an_upstream_page_is_taken_over_whole(tmp_path: Path) -> None:
    with case_blind_disk(tmp_path) as disk:
        checkout = make_checkout(disk / "checkout")
        folder = checkout / "docs" / "gb"
        for gb_id in WORDINGS:
            page_of(checkout, gb_id).unlink()
            (folder / f"{gb_id.lower()}.md").write_bytes(upstream_page(gb_id, f"note {gb_id}\r\n".encode()))
        assert sorted(path.name for path in folder.iterdir()) == [f"{gb_id.lower()}.md" for gb_id in WORDINGS]
        done = run_generate(checkout, "--source", "snapshot")
        assert (done.code, done.stderr) == (0, "")
        assert sorted(path.name for path in folder.iterdir()) == [f"{gb_id}.md" for gb_id in WORDINGS]
        for gb_id in WORDINGS:
            assert in_block(f"note {gb_id}\r\n".encode()) in page_of(checkout, gb_id).read_bytes()
        assert "nothing rendered" in generate_here(checkout, "--source", "snapshot").stdout
        assert generate_here(checkout, "--check").code == 0
        done = generate_here(checkout, "--source", registry_file(tmp_path, REWORDED))
        assert done.code == 0
        assert all(is_reworded(page) for page in pages(checkout).values())


# Locale


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"},
    ],
    ids=["C without UTF-8", "Latin-1"],
)
def test_a_locale_without_utf_8_changes_no_byte_and_ends_no_run(
    checkout: Path, tmp_path: Path, locale: dict[str, str]
) -> None:
    write_note(page_of(checkout, "GB0003"), NOTES["emoji"])
    page_of(checkout, "GB0005").write_bytes(after_end(page_of(checkout, "GB0005").read_bytes()))
    (checkout / "docs" / "gb" / "naïve.md").write_bytes(b"")
    wordings = reworded({**WORDINGS, "GB0099": (replace(WORDINGS["GB0001"][0], gb_type="Grüße 🔥"),)})
    source = registry_file(tmp_path, wordings)
    done = run_generate(checkout, "--source", source, "--html", str(tmp_path / "_site"), env=locale)
    assert done.code == 1
    assert "Traceback" not in done.stderr
    assert "docs/gb/GB0005.md:" in done.stderr
    assert "GB0099 (Gr" in done.stderr
    assert in_block(NOTES["emoji"]) in page_of(checkout, "GB0003").read_bytes()
    assert "Grüße".encode() in page_of(checkout, "GB0099").read_bytes()
    assert "🔥 ✓ 漢字".encode() in (tmp_path / "_site" / "gb" / "gb0003.html").read_bytes()


def test_a_diff_in_a_locale_without_utf_8_shows_what_it_can(checkout: Path, tmp_path: Path) -> None:
    write_note(page_of(checkout, "GB0003"), NOTES["emoji"])
    source = registry_file(tmp_path, reworded(WORDINGS, mark="Grüße 🔥"))
    done = run_generate(checkout, "--diff", "--source", source, env={"LC_ALL": "C", "PYTHONUTF8": "0"})
    assert (done.code, done.stderr) == (0, "")
    assert "+++ docs/gb/GB0003.md" in done.stdout
    assert r"Gr\xfc\xdfe" in done.stdout
