from __future__ import annotations

import pytest

from registry.ids import local_id
from registry.merge import merge_registry
from registry.model import Environment, Evidence, Note, Repro, Sighting
from tests.samples import CATEGORY, OTHER_TYPE, captured, knowledge, release, revision, site

ENVIRONMENT = Environment(torch="2.13.0", python="3.11", device="cpu")


def test_ids_of_every_source_are_merged_and_sorted_with_local_ones_last() -> None:
    known = knowledge(
        {"GB0300": [revision("c")], "GB0001": [revision("a")]},
        superseded={"GB0200": (revision("only on main"),)},
        releases=[release("2.8.0", {"GB0100": [revision("b")]})],
        captured=[captured("model", ENVIRONMENT, "no id")],
    )
    registry = merge_registry(known)
    assert [gb.gb_id for gb in registry] == ["GB0001", "GB0100", "GB0200", "GB0300", local_id("no id")]
    assert [gb.lifecycle for gb in registry] == ["live", "dropped", "dropped", "live", "local"]


def test_an_id_that_the_newest_release_no_longer_emits_is_retired() -> None:
    releases = [release("2.8.0", {"GB0001": [revision("a")]}), release("2.9.0", {"GB0001": [revision("a")]}, [])]
    (gb,) = merge_registry(knowledge({"GB0001": [revision("a")]}, releases=releases))
    assert gb.lifecycle == "retired"


def test_an_id_that_is_newer_than_every_release_counts_as_live() -> None:
    gb = merge_registry(knowledge({"GB0001": [revision("a")]}, releases=[release("2.8.0", {})])).breaks[0]
    assert gb.lifecycle == "live"


def test_an_id_that_no_category_lists_is_uncategorised() -> None:
    registry = merge_registry(knowledge({"GB0001": [revision("a")], "GB0002": [revision("b")]}))
    assert [gb.category for gb in registry] == [CATEGORY.key, "uncategorised"]


def test_a_captured_break_with_a_known_wording_old_ones_included_is_seen_under_its_id() -> None:
    known = knowledge(
        {"GB0001": [revision("new"), revision("old")]}, captured=[captured("model", ENVIRONMENT, "old", compiled=3)]
    )
    (gb,) = merge_registry(known)
    assert gb.sightings == (Sighting(name="model", environment=ENVIRONMENT, sites=1, compiled=3),)


@pytest.mark.parametrize(("printed", "placed"), [("GB0002", "GB0002"), ("GB0001", "GB0001"), ("GB0003", "GB0001")])
def test_of_two_ids_with_one_type_the_printed_one_was_seen(printed: str, placed: str) -> None:
    ids = {"GB0001": [revision("same")], "GB0002": [revision("same")], "GB0003": [revision("other")]}
    registry = merge_registry(knowledge(ids, captured=[captured("model", ENVIRONMENT, "same", gb_id=printed)]))
    assert [gb.gb_id for gb in registry if gb.sightings] == [placed]


def test_local_ids_are_stable_and_made_from_the_type_alone() -> None:
    assert local_id("Attempted to guard on uninitialized nn.Module") == "GBL-5483AC"


@pytest.mark.parametrize(
    ("note", "written_for"),
    [
        (Note(text="mine", written_for="old meaning"), "old meaning"),
        (Note(text="mine", written_for=""), "now"),
        (Note(text=" \n", written_for="old meaning"), "now"),
    ],
    ids=["kept with the type it was written for", "of unknown age", "an empty note belongs to the wording of today"],
)
def test_a_note_is_tied_to_the_type_it_was_written_for(note: Note, written_for: str) -> None:
    (gb,) = merge_registry(knowledge({"GB0001": [revision("now")]}), {"GB0001": note})
    assert gb.note == Note(text=note.text, written_for=written_for)


def test_repros_and_evidence_are_joined_to_their_id() -> None:
    repro = Repro(name="GB0001", gb_id="GB0001", lead="l", source="s", sha256="x", fixes={}, isolated=())
    evidence = Evidence(environment=ENVIRONMENT, repro_sha256="x", verdicts={"eager": "verified"})
    registry = merge_registry(
        knowledge({"GB0001": [revision("a")]}, repros={"GB0001": repro}, evidence={"GB0001": (evidence,)})
    )
    assert (registry.breaks[0].repro, registry.breaks[0].evidence) == (repro, (evidence,))
    assert registry.environments == (ENVIRONMENT,)


def test_types_that_the_newest_release_emits_without_an_id_are_listed() -> None:
    releases = [release("2.8.0", {}, [site("gone", None)]), release("2.9.0", {}, [site(OTHER_TYPE, None)])]
    registry = merge_registry(knowledge({"GB0001": [revision("a")]}, releases=releases))
    assert [found.gb_type for found in registry.unregistered] == [OTHER_TYPE]


def test_the_order_of_the_input_does_not_matter() -> None:
    wordings = {"GB0001": [revision("a")], "GB0002": [revision("b")]}
    assert merge_registry(knowledge(wordings)) == merge_registry(knowledge(dict(reversed(wordings.items()))))
