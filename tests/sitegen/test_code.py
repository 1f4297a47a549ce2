from __future__ import annotations

import html
import re

from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from registry.repros import parse_repro
from registry.snippets import take_apart
from sitegen.code import broken_marks, changed_marks, highlight
from sitegen.difference import difference, similar, words
from tests.samples import HOSTILE

PROGRAM = take_apart(
    parse_repro(
        '''"""Lead."""


def broken(x):
    y = x + 1
    print(y)
    return y


def fixed(x):
    """When."""
    y = x + 1
    return y * 1
''',
        "GB0001",
    )
)

texts = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=60) | st.sampled_from(
    HOSTILE
)


def plain(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@given(texts)
def test_highlighted_code_reads_as_it_was_written(code: str) -> None:
    markup = highlight(code)
    assert plain(markup) == code
    assert "\n" not in markup
    assert "{" not in markup


def test_the_line_that_breaks_is_marked() -> None:
    line = next(at for at, text in PROGRAM.broken.lines if "print" in text)
    marks = broken_marks(PROGRAM.broken, line)
    assert marks == ["", "", "here", ""]
    soup = BeautifulSoup(f"<pre>{highlight(PROGRAM.broken.code, marks)}</pre>", "html.parser")
    assert [mark.get_text() for mark in soup.select(".here")] == ["    print(y)"]
    assert broken_marks(PROGRAM.broken, None) == [""] * 4


def test_what_a_fix_does_otherwise_is_marked_and_its_name_is_not() -> None:
    assert changed_marks(PROGRAM.fixes[0], PROGRAM.broken) == ["", "", "changed"]


@given(texts, texts)
def test_a_difference_holds_both_texts(old: str, new: str) -> None:
    parts = list(difference(old, new))
    assert "".join(text for kind, text in parts if kind != "new") == old
    assert "".join(text for kind, text in parts if kind != "old") == new


@given(texts)
def test_words_joined_are_the_text(text: str) -> None:
    assert "".join(words(text)) == text


def test_a_difference_is_by_words() -> None:
    assert list(difference("Set a to b.", "Set a to c.")) == [
        ("same", "Set a to "),
        ("old", "b"),
        ("new", "c"),
        ("same", "."),
    ]
    assert similar("Set a to b.", "Set a to c.")
    assert not similar("_explanation", "Detected a branch on data.")
