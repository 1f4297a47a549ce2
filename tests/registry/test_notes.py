from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.model import Note
from registry.notes import END, START, MalformedPage, check_closed, digest, front_matter_value, seal, splice, split_page

PAGE = f'---\ntitle: "T"\n---\n# head\n\n{START}\n\n{END}\n\ntail\n'
FENCED_MARKERS = f"```html\n{START}\n{END}\n```"


def page_with(block: str) -> str:
    return f"head\n{block}\ntail\n"


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n",
        "text",
        "text\n",
        "  indented\n\ttab\n",
        "windows\r\nlines\r\n",
        "mixed\r\nlines\n",
        "old mac\rlines\r",
        "- a list\n- of two",
        FENCED_MARKERS,
        f"~~~~\n{END}\n~~~\n~~~~\n",
        f"   ```\n{START}\n   ```   \n",
        f"`{END}` in a sentence",
        f"    {END}",
        f"text {END}",
        "```\nnever closed",
        "{{ liquid }} {% raw %}",
        "<script>alert(1)</script>",
        "\x0b\x0c\x85\u2028",
    ],
)
def test_a_note_reads_back_as_it_was_written(note: str) -> None:
    spliced = splice(PAGE, note)
    assert split_page(spliced).note == note
    assert splice(spliced, "") == PAGE


TRICKY = st.sampled_from(
    [START, END, "```", "~~~", "````", "```py", "\n", "\r\n", "\r", "    ", "- ", "text", "<!--", "-->", " "]
)
NOTES = st.one_of(st.text(), st.lists(TRICKY, max_size=12).map("".join))


@pytest.mark.slow
@pytest.mark.parametrize("examples", [1500, pytest.param(6000, marks=pytest.mark.prove)])
def test_any_note_reads_back_or_is_refused_with_a_reason_and_most_are_accepted(examples: int) -> None:
    outcomes: Counter[str] = Counter()

    @settings(max_examples=examples)
    @given(NOTES)
    def holds(note: str) -> None:
        try:
            sealed = seal(PAGE, Note(text=note, written_for="T"))
        except MalformedPage as refusal:
            outcomes["refused"] += 1
            assert refusal.message
            assert refusal.line > 0
            return
        outcomes["accepted"] += 1
        assert split_page(sealed).note == note
        assert digest(sealed) == digest(PAGE) == front_matter_value(sealed, "digest")

    holds()
    assert outcomes.total() >= examples * 5 // 6
    assert outcomes["accepted"] > 5 * outcomes["refused"] > 0


@pytest.mark.parametrize(
    ("page", "line", "reason"),
    [
        ("head\ntail\n", 1, "both markers are missing"),
        (page_with(f"{START}\ntext"), 2, "END marker is missing"),
        (page_with(f"text\n{END}"), 3, "START marker is missing"),
        (page_with(f"{END}\ntext\n{START}"), 2, "above the START"),
        (page_with(f"{START}\n{START}\n{END}"), 3, "second START"),
        (page_with(f"{START}\n{END}\ntext\n{END}"), 5, "second END"),
        (page_with(f"{START}\n{START}\n{END}\n{END}"), 3, "second START"),
        (page_with(f"{START}\ntext {END}"), 2, "END marker is missing"),
        (page_with(f"{START}\n```\n{END}\n```"), 2, "END marker is missing"),
    ],
)
def test_malformed_markers_are_refused_with_their_line(page: str, line: int, reason: str) -> None:
    with pytest.raises(MalformedPage, match=reason) as refusal:
        split_page(page)
    assert refusal.value.line == line


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(MalformedPage, match="surrogate"):
        splice(PAGE, "\ud800")


def test_a_sealed_page_carries_its_digest_and_the_type_its_note_was_written_for() -> None:
    sealed = seal(PAGE, Note(text="note", written_for='a "quoted" {type}: x'))
    assert front_matter_value(sealed, "note_for") == 'a "quoted" {type}: x'
    assert front_matter_value(sealed, "digest") == digest(sealed)
    assert json.dumps('a "quoted" {type}: x') in sealed


def test_the_digest_ignores_the_note_line_endings_and_a_hand_edited_note_for() -> None:
    sealed = seal(PAGE, Note(text="note", written_for="T"))
    assert digest(splice(sealed, "other")) == digest(sealed)
    assert digest(sealed.replace("\n", "\r\n")) == digest(sealed)
    assert digest(sealed.replace('note_for: "T"', "note_for: something else")) == digest(sealed)
    assert digest(sealed + "\n\n") == digest(sealed)


@pytest.mark.parametrize(
    "old, new", [("# head", "# head\n\nmine"), ("tail", "tail\nmine"), ('"T"', '"mine"'), ("tail", "")]
)
def test_the_digest_notices_any_change_outside_the_note(old: str, new: str) -> None:
    sealed = seal(PAGE, Note(text="note", written_for="T"))
    assert digest(sealed.replace(old, new)) != digest(sealed)


@pytest.mark.slow
def test_a_long_note_of_fences_that_stay_open_is_read_once() -> None:
    note = "```a\n~~~b\n" * 50_000
    assert split_page(splice(PAGE, note)).note == note


def test_a_value_without_quotes_is_read_as_it_stands() -> None:
    assert front_matter_value("---\r\nnote_for: plain words \r\n---\r\n", "note_for") == "plain words"
    assert front_matter_value("no front matter", "note_for") is None


@pytest.mark.parametrize(
    "note",
    [
        "a <br> b, a < b and c > d, <https://x.y>, <b>bold",
        "<details>\n<summary>x</summary>\n\n<p>one\n</p>\n</details>",
        "`<div>` and ``<!-- ` ``\n\n```html\n</div>\n<!--\n```\n\n~~~\n{::comment}\n~~~",
        "x <!-- y\n--> z <div/> {::nomarkdown}\n<i>\n{:/nomarkdown}",
    ],
)
def test_a_note_that_closes_what_it_opens_is_none_of_our_business(note: str) -> None:
    check_closed(note, 1)


@pytest.mark.parametrize(
    ("note", "line"),
    [
        ("text\n\n<details>\n", 12),
        ("<div>\n<div>\n</div>", 10),
        ("one\n```\ncode", 11),
        ("~~~~\n~~~", 10),
        ("a\n<!-- b", 11),
        ("{::comment}\nx", 10),
        ("`a\n\n<div>\n\nb`", 12),
        ("<table><tr></table>\n</section>", 11),
    ],
)
def test_a_note_that_leaves_something_open_is_refused_with_its_line(note: str, line: int) -> None:
    with pytest.raises(MalformedPage) as refused:
        check_closed(note, 10)
    assert refused.value.line == line
