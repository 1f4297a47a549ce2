"""The search for words: what comes first, what a pasted message finds, and how well it finds what people type."""

from __future__ import annotations

from functools import cache
from statistics import mean

import pytest

from registry.matching import Matcher
from registry.search import Search
from tests.committed import committed_breaks, committed_registry
from tests.search_queries import Query, queries

pytestmark = pytest.mark.slow

MESSAGE = """\
torch._dynamo.exc.Unsupported: Unsupported Tensor.item() call with capture_scalar_outputs=False
  Explanation: Dynamo does not support tracing `Tensor.item()` with config.capture_scalar_outputs=False.
  Hint: Set `torch._dynamo.config.capture_scalar_outputs = True`.
"""


@cache
def search() -> Search:
    return Search(committed_registry(), Matcher.from_registry(committed_registry()))


def reciprocal_rank(query: Query) -> float:
    found = search().find(query.text).gb_ids
    return max((1 / place for place, gb_id in enumerate(found, 1) if gb_id in query.gb_ids), default=0)


def test_the_search_finds_what_people_type() -> None:
    """The held queries are those for whose sake nothing was added to the registry."""
    assert mean(reciprocal_rank(one) for one in queries() if one.held) >= 0.84
    assert mean(reciprocal_rank(one) for one in queries() if not one.held) >= 0.9


@pytest.mark.parametrize(
    "text", ["GB0170", "gb170", " 170 ", "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html"]
)
def test_an_id_or_a_link_finds_this_break_alone(text: str) -> None:
    found = search().find(text)
    assert (found.gb_ids, found.named) == (("GB0170",), 1)


def test_every_title_finds_its_break_first() -> None:
    """A few titles have two ids: then either may be first."""
    titles = {gb.gb_type for gb in list(committed_breaks().values())[::20]}
    wrong = [title for title in titles if committed_breaks()[search().find(title).gb_ids[0]].gb_type != title]
    assert wrong == []


def test_an_old_title_finds_its_break() -> None:
    old = [
        (gb.gb_id, dated.revision.gb_type)
        for gb in committed_breaks().values()
        for dated in gb.revisions[1:]
        if dated.revision.gb_type != gb.gb_type
    ]
    assert len(old) > 5
    assert [title for gb_id, title in old if gb_id not in search().find(title).gb_ids[:3]] == []


def test_a_pasted_message_finds_what_it_names_and_nothing_else() -> None:
    found = search().find(MESSAGE)
    assert (found.gb_ids, found.named) == (("GB0124",), 1)


def test_what_torch_puts_before_a_title_is_not_searched_for() -> None:
    assert search().find("torch._dynamo.exc.Unsupported: Data-dependent branching").gb_ids[0] == "GB0170"


def test_a_misspelt_word_is_searched_for_as_what_it_looks_like() -> None:
    found = search().find("genrator")
    assert found.respelt["genrator"][0] == "generator"
    assert "GB0003" in found.gb_ids[:3]
    assert search().find("generator").respelt == {}


@pytest.mark.parametrize("text", ["", "   ", "qqqq zzzz", "???", "GB99999999"])
def test_what_nothing_has_finds_nothing(text: str) -> None:
    assert search().find(text).gb_ids == ()


def test_words_find_by_their_stem_and_by_the_parts_of_names() -> None:
    assert "GB0124" in search().find("capturing scalar output").gb_ids[:3]
