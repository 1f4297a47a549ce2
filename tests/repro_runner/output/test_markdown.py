"""Text of a program in Markdown, read back by a parser of GitHub's dialect: it is text, and it is whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro_runner.output.markdown import cell, code, fence, one_line, plain, prose, split_code
from tests.repro_runner.fixtures.markdown_page import page
from tests.samples import HOSTILE

MENTIONS = ["@torch.compile", "see #12 and a@b.invalid", "$x$ or $$y$$", "http://a.invalid www.b.c"]


@pytest.mark.parametrize("text", MENTIONS)
def test_nobody_is_mentioned_and_nothing_linked_by_github(text: str) -> None:
    """GitHub looks for those in runs of text: one that ends after the sign can't match."""
    texts = [str(piece) for piece in page(prose(text)).find_all(string=True)]
    assert "".join(texts).strip() == text
    assert not any(re.search(r"@\w|#\d|\$\S|https?://|www\.", piece) for piece in texts)


@pytest.mark.parametrize("text", MENTIONS)
def test_plain_text_mentions_and_links_no_more_than_prose(text: str) -> None:
    assert plain(text) == prose(text)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zs", "Zl", "Zp", "Cn", "Co"]), min_size=1))
def test_prose_reads_as_it_was_written(text: str) -> None:
    shown = page(f"- {prose(text)}").get_text().strip()
    assert shown == re.sub(r"`([^`]+)`", r"\1", text).strip()


@given(st.text("`x ~|\\<", min_size=1))
def test_code_stays_in_its_span_and_its_fence(text: str) -> None:
    words = " ".join(text.split())
    if words:
        (span,) = page(f"a {code(text)} b").find_all("code")
        assert span.get_text() == words
    (block,) = page(f"{fence(text)}\n\nafter").find_all("pre")
    assert block.get_text() == f"{text.rstrip()}\n"


@pytest.mark.parametrize(
    "text", ["```\n# x\n```", "~~~\n", "a\r\n````", "`", "\x1b[31mred", "a\u202eb", "|", "\\|", "", " "]
)
def test_no_text_gets_out_of_its_fence_its_code_or_its_cell(text: str) -> None:
    inside = fence(text, "sh").splitlines()
    assert inside[0].startswith("```")
    assert inside[-1] == inside[0].removesuffix("sh")
    assert all(not line.startswith(inside[-1]) for line in inside[1:-1])
    for one in (code(text), plain(text)):
        assert "\n" not in one
        assert "\x1b" not in one
        assert "\u202e" not in one
    assert cell(code(text)).replace("\\|", "").count("|") == 0
    assert "<" not in plain("<b>").replace("\\<", "")
    assert prose("set `a._b` to <b>, in_place _x_") == "set `a._b` to &lt;b&gt;, in_place \\_x\\_"
    assert (plain("4.38 s"), plain("4. x")) == ("4.38 s", "&#52;. x")  # a number, and an item of a list


@pytest.mark.parametrize(
    "text",
    ["# heading", "###### deep", "- item", "+ item", "* item", "1. item", "2) item", "> quote", "---", "===", "___",
     ": definition", "| a | b |", "[link](x)", "![picture](x)", "**bold**", "~~gone~~", "<b>bold</b>", "&lt;", "\\*"],
)  # fmt: skip
def test_plain_text_is_a_paragraph_and_nothing_else(text: str) -> None:
    found = page(plain(text))
    assert {tag.name for tag in found.find_all(True)} <= {"p", "span"}
    assert found.get_text().strip() == text


@pytest.mark.parametrize("text", HOSTILE)
def test_plain_text_and_prose_are_one_paragraph_without_markup(text: str) -> None:
    for render, allowed in ((plain, {"p", "span"}), (prose, {"p", "span", "code"})):
        found = page(render(text))
        assert {tag.name for tag in found.find_all(True)} <= allowed
        assert len(found.find_all("p")) == 1


@pytest.mark.parametrize(
    ("text", "fenced"),
    [
        ("x = 1", "```python\nx = 1\n```"),
        ("x = 1\n\n\n", "```python\nx = 1\n```"),
        ("```\ninner\n```", "````python\n```\ninner\n```\n````"),
        ("a `````` b", "```````python\na `````` b\n```````"),
        ("a\r\nb\rc", "```python\na\nb\\rc\n```"),
    ],
)
def test_a_fence_is_longer_than_any_in_the_text(text: str, fenced: str) -> None:
    assert fence(text, "python") == fenced


@pytest.mark.parametrize(
    ("text", "spanned"),
    [("x", "`x`"), ("a `b` c", "``a `b` c``"), ("`b`", "`` `b` ``"), ("a\nb", "`a b`"), (" \n", ""), ("", "")],
)
def test_a_span_of_code(text: str, spanned: str) -> None:
    assert code(text) == spanned


def test_a_bar_does_not_end_a_cell() -> None:
    assert (cell("a | b"), cell(r"a \| b"), cell("||")) == (r"a \| b", r"a \| b", r"\|\|")
    row = f"| a | b |\n| - | - |\n| {cell(code('x | y'))} | {cell(plain('p | q'))} |\n"
    assert [found.get_text() for found in page(row).find_all("td")] == ["x | y", "p | q"]


def test_one_line_has_no_line_break_and_nothing_invisible() -> None:
    assert one_line("  a\n\tb\r\nc  ") == "a b c"
    assert one_line("a\rb\x1b[0m\u202e\u200b") == "a\\rb\\x1b[0m\\u202e\\u200b"


def test_code_stands_between_two_backticks() -> None:
    assert split_code("set `a` to `b`") == [(False, "set "), (True, "a"), (False, " to "), (True, "b")]
    assert split_code("`a`") == [(True, "a")]
    assert split_code("one ` alone") == [(False, "one ` alone")]
    assert split_code("") == []
