from __future__ import annotations

import pytest
import yaml
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from sitegen.markdown import fence, front_matter, plain, prose
from sitegen.markdown_shim import markdown_converter
from tests.samples import HOSTILE

to_html = markdown_converter()
texts = st.text(alphabet=st.sampled_from(list("ab1 \n\t`*_[]()<>{}|~$#&;:.!-+=\\\"'/")), max_size=40) | st.sampled_from(
    HOSTILE
)


@given(texts)
def test_a_plain_text_in_a_heading_is_shown_as_it_is(text: str) -> None:
    heading = BeautifulSoup(to_html(f"# GB0001: {plain(text)}\n"), "html.parser").h1
    assert heading is not None
    assert heading.get_text() == f"GB0001: {text}".strip(" " * (not text))


@given(texts)
def test_fenced_text_is_shown_as_it_is(text: str) -> None:
    code = BeautifulSoup(to_html(f"before\n\n{fence(text)}\n\nafter\n"), "html.parser").pre
    assert code is not None
    assert code.get_text() == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Use `a | b`, not `__a__`.", "Use <code>a | b</code>, not <code>__a__</code>."),
        ("__init__ and a_b, *all* <b>", "__init__ and a_b, *all* &lt;b&gt;"),
        ("One\n  paragraph.", "One paragraph."),
    ],
)
def test_only_code_is_markup_in_prose(text: str, shown: str) -> None:
    assert to_html(prose(text)) == f"<p>{shown}</p>"


@given(st.dictionaries(texts, texts | st.dictionaries(texts, texts.filter(bool), min_size=1), max_size=4))
def test_front_matter_reads_back_and_has_a_line_for_each_fact(facts: dict[str, object]) -> None:
    known = {name: value for name, value in facts.items() if value}
    dumped = front_matter({"nothing": "", "facts": facts, "words": ["no", "2.8.0", "2.8", "a, b"]})
    read = {"facts": facts} if known or facts else {}
    assert yaml.safe_load(dumped) == {**read, "words": ["no", "2.8.0", "2.8", "a, b"]}
    assert not any(line.startswith(("-", "`", "~")) for line in dumped.splitlines())
