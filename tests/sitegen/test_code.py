from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from sitegen.code import highlight
from tests.samples import HOSTILE

texts = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=60) | st.sampled_from(
    HOSTILE
)


@given(texts)
def test_highlighted_code_reads_as_it_was_written(code: str) -> None:
    markup = highlight(code)
    assert html.unescape(re.sub(r"<[^>]*>", "", markup)) == code
    assert "\n" not in markup
    assert "{" not in markup
