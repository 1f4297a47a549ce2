from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitegen.escape import prose, verbatim
from tests.samples import HOSTILE


@given(st.text())
def test_unescaping_gives_the_text_back(text: str) -> None:
    """U+0000 and the C1 range mean something else to HTML; registry text has none of the former."""
    plain = "".join(
        character for character in text if character > "\x7f" or " " <= character < "\x7f" or character in "\n\t"
    )
    assert html.unescape(verbatim(plain)) == plain


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_is_left_that_means_something_to_markdown_html_or_liquid(text: str) -> None:
    escaped = verbatim(text)
    rest = escaped.replace("&#", "").replace(";", "")
    assert set("<>{}[]()*_`~|\\'\"!=+-:/@$%^\n\t") & set(rest) == set()
    assert ".." not in escaped
    assert "  " not in escaped


def test_ordinary_sentences_stay_readable() -> None:
    assert verbatim("Dynamo, for now, does not. It may.") == "Dynamo, for now, does not. It may."


def test_backticks_in_our_own_sentences_mark_code() -> None:
    assert prose("Use `torch.where`, not `<if>`.") == "Use <code>torch.where</code>, not <code>&#60;if&#62;</code>."
