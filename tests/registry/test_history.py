from __future__ import annotations

import pytest

from registry.history import IndexedRelease, merge_history, merge_revisions
from registry.model import History, Release
from tests.samples import release, revision, site

OLD, NEW, OTHER = revision("old title"), revision("new title"), revision("other title")


def history(*releases: Release) -> History:
    return merge_history("GB0001", [IndexedRelease(one) for one in releases])


def test_an_id_knows_its_first_release_and_the_one_that_stopped_emitting_it() -> None:
    found = history(
        release("2.8.0", {}),
        release("2.9.0", {"GB0001": [OLD]}),
        release("2.10.0", {"GB0001": [OLD]}, []),
        release("2.11.0", {"GB0001": [OLD]}, []),
    )
    assert (found.first_release, found.last_live, found.retired_in, found.live) == ("2.9.0", "2.9.0", "2.10.0", False)


def test_an_id_that_comes_back_is_not_retired() -> None:
    found = history(
        release("2.8.0", {"GB0001": [OLD]}),
        release("2.9.0", {"GB0001": [OLD]}, []),
        release("2.10.0", {"GB0001": [OLD]}),
    )
    assert found.live
    assert found.retired_in is None


def test_an_id_that_was_never_emitted_was_never_retired() -> None:
    assert history(release("2.8.0", {"GB0001": [OLD]}, [])).retired_in is None


def test_another_title_or_text_is_a_rewording() -> None:
    found = history(
        release("2.8.0", {"GB0001": [OLD]}),
        release("2.9.0", {"GB0001": [NEW, OLD]}),
        release("2.10.0", {"GB0001": [revision("new title", explanation="other")]}),
        release("2.11.0", {"GB0001": [revision("new title", explanation="other")]}),
    )
    assert found.reworded_in == ("2.9.0", "2.10.0")
    assert found.meaning_changed_in == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (release("2.8.0", {"GB0001": [OLD], "GB0002": [NEW]}), release("2.9.0", {"GB0001": [NEW]})),
        (release("2.8.0", {"GB0001": [OLD]}), release("2.9.0", {"GB0001": [NEW], "GB0002": [OLD]})),
        (release("2.8.0", {"GB0001": [OLD]}), release("2.9.0", {"GB0001": [NEW]}, [site("old title", None)])),
    ],
    ids=["the new title was another id's", "the old title is another id's", "the old title is still emitted"],
)
def test_a_title_that_is_another_breaks_changes_the_meaning(before: Release, after: Release) -> None:
    assert history(before, after).meaning_changed_in == ("2.9.0",)


def test_every_wording_ever_seen_is_kept_newest_first_with_the_releases_where_it_was_current() -> None:
    edited_in_place, from_main = revision("new title", explanation="edited"), revision("only on main")
    releases = [
        IndexedRelease(release("2.8.0", {"GB0001": [OLD]})),
        IndexedRelease(release("2.9.0", {"GB0001": [NEW, OLD]})),
        IndexedRelease(release("2.10.0", {"GB0001": [NEW, OLD]})),
    ]
    found = merge_revisions("GB0001", [edited_in_place], [from_main], releases)
    assert [(dated.revision, dated.releases) for dated in found] == [
        (edited_in_place, ()),
        (NEW, ("2.9.0", "2.10.0")),
        (OLD, ("2.8.0",)),
        (from_main, ()),
    ]


def test_split_hints_are_rejoined_where_a_release_shows_one_literal() -> None:
    wording = revision("t", hints=("Set a ", "to b.", "Or c."))
    emitted = [site("t", "GB0001", joined_hints=["Set a to b."])]
    releases = [IndexedRelease(release("2.8.0", {"GB0001": [wording]}, emitted))]
    (found,) = merge_revisions("GB0001", [wording], [], releases)
    assert found.hints == (("Set a ", "to b."), ("Or c.",))
