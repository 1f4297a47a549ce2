from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from registry.hints import rejoin_hints, split_literals

ITEM = ("Set `flag = True` ", "or `export FLAG=1` ", "to include it.")


def test_fragments_of_one_literal_become_one_hint() -> None:
    assert rejoin_hints(("First.", *ITEM, "Last."), {"".join(ITEM)}) == (("First.",), ITEM, ("Last.",))


def test_hints_that_the_source_does_not_join_stay_apart() -> None:
    assert rejoin_hints(ITEM, {"something else"}) == tuple((hint,) for hint in ITEM)


def test_quotes_and_spaces_inside_placeholders_may_differ() -> None:
    assert rejoin_hints(('use {x["a"]} ', "now"), {"use {x['a']} now"}) == (('use {x["a"]} ', "now"),)


def test_only_literals_that_are_really_split_are_kept() -> None:
    assert split_literals(("whole", "a ", "b"), {"whole", "a b", "absent"}) == ("a b",)


@given(st.lists(st.text(min_size=1, max_size=4), max_size=8), st.sets(st.text(max_size=8), max_size=4))
def test_no_fragment_is_lost_or_moved(hints: list[str], literals: set[str]) -> None:
    assert [fragment for group in rejoin_hints(hints, literals) for fragment in group] == hints
