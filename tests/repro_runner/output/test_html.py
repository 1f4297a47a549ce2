"""Any text on a page: what a browser would not show is spelt out."""

from __future__ import annotations

import base64
import hashlib
import html
import re

import html5lib
import pytest
from bs4 import BeautifulSoup
from markupsafe import Markup

from registry.stylesheet import read_stylesheet
from repro_runner.output.html import fit_for_html, highlight_python, page_style


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain\ttext\nin lines", "plain\ttext\nin lines"),
        ("<b> & 'quotes'", "<b> & 'quotes'"),  # a template escapes it later
        ("Gerät – 模型 😀", "Gerät – 模型 😀"),
        ("\x00\x08\x0b\x1b[31m\x7f\x9f", "\\x00\\x08\\x0b\\x1b[31m\\x7f\\x9f"),
        ("a\u202eb\u2066c\u200bd\ufeff", "a\\u202eb\\u2066c\\u200bd\\ufeff"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("\ud800 \udfff", "\\ud800 \\udfff"),
        ("\ufdd0 \ufffe \uffff", "\\ufdd0 \\ufffe \\uffff"),
        ("\U0001fffe \U0010ffff", "\\U0001fffe \\U0010ffff"),
        (3, "3"),
        (None, "None"),
        ("", ""),
    ],
)
def test_what_a_page_may_not_hold_is_spelt_out(value: object, shown: str) -> None:
    assert fit_for_html(value) == shown


def test_every_character_is_fit_afterwards() -> None:
    """By what a strict parser accepts. Carriage returns are line breaks in HTML."""
    everything = "".join(chr(code) for code in (*range(0x3000), *range(0xD800, 0xE000), *range(0xFDC0, 0x10010)))
    fit = html.escape(str(fit_for_html(everything)))
    html5lib.HTMLParser(strict=True).parse(f"<!DOCTYPE html><title>t</title><p>{fit}")


def test_markup_is_left_alone() -> None:
    markup = Markup("<b>\u202e</b>")
    assert fit_for_html(markup) is markup


def highlighted(program: str) -> BeautifulSoup:
    marked = highlight_python(program)
    assert isinstance(marked, Markup)
    return BeautifulSoup(f"<pre>{marked}</pre>", "html.parser")


def test_highlighted_python_reads_as_it_was_written() -> None:
    program = '\n\nif x < 1:\n    y = "</pre>&amp;\x1b"  # \u202e\n'
    soup = highlighted(program)
    assert soup.get_text() == str(fit_for_html(program))
    assert {tag.name for tag in soup.find_all(True)} == {"pre", "span"}


@pytest.mark.parametrize("word", ["def", "f", "# why", "return", "'x'", "1"])
def test_the_colours_of_python_are_in_the_stylesheet(word: str) -> None:
    spans = highlighted("def f():  # why\n    return 'x' + 1\n").find_all("span")
    names = [name for span in spans if span.get_text() in word for name in span.get_attribute_list("class")]
    assert any(re.search(rf"\.{name}\b", read_stylesheet()) for name in names)


def test_a_page_carries_its_style_and_the_hash_of_it() -> None:
    found = page_style(".own { color: red }")
    assert found["style"] == read_stylesheet() + ".own { color: red }"
    assert isinstance(found["style"], Markup)
    digest = hashlib.sha256(found["style"].encode("utf-8")).digest()
    assert base64.b64decode(found["style_hash"]) == digest
