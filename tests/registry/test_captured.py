"""Captured programs: what is written is read again, what is none is refused, and the registry knows where they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.captured import captured_document, dump_captured, is_name, parse_captured, read_captured
from registry.errors import InvalidInput
from registry.ids import local_id
from registry.merge import merge_registry
from registry.model import CapturedProgram, Environment, Revision, SeenBreak
from tests.samples import captured, knowledge, revision

ENVIRONMENT = Environment(torch="2.13.0", python="3.11", device="cpu", date="2026-01-05")

counts = st.integers(0, 10**9)
wordings = st.builds(
    Revision, gb_type=st.text(), context=st.text(), explanation=st.text(), hints=st.lists(st.text()).map(tuple)
)
seen_breaks = st.builds(
    SeenBreak,
    gb_id=st.text(),
    wording=wordings,
    sites=counts,
    compiled=counts,
    ran=st.none() | counts,
    kinds=st.dictionaries(st.text(), counts),
)
programs = st.builds(
    CapturedProgram,
    name=st.just("model"),
    about=st.text(),
    environment=st.builds(Environment, torch=st.text(), python=st.text(), device=st.text(), date=st.text()),
    totals=st.dictionaries(st.text(), counts),
    breaks=st.lists(seen_breaks, max_size=3).map(tuple),
)


@pytest.mark.slow
@given(programs)
def test_what_is_written_is_read_again(program: CapturedProgram) -> None:
    assert parse_captured(json.loads(dump_captured(program)), "model") == program


def test_programs_are_read_by_name(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.json").write_text(dump_captured(captured(name, ENVIRONMENT, "t")), "utf-8")
    assert [program.name for program in read_captured(tmp_path)] == ["a", "b"]


def without(field: str) -> dict[str, Any]:
    content = captured_document(captured("x", ENVIRONMENT, "t"))
    del content["breaks"][0][field]
    return content


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"kind": "evidence", "schema": 1}, "kind is 'evidence', not 'captured'"),
        ({"kind": "captured", "schema": 2}, "schema 2 is newer than 1; update the project"),
        ({"kind": "captured", "schema": 1}, "no captured in this file"),
        (without("compiled"), "no captured in this file"),
        ([], "no captured in this file"),
    ],
)
def test_another_kind_a_newer_schema_or_a_damaged_file_is_refused(tmp_path: Path, content: object, reason: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(InvalidInput, match=reason):
        read_captured(tmp_path)


def test_every_wrong_file_is_named_at_once(tmp_path: Path) -> None:
    right = dump_captured(captured("x", ENVIRONMENT, "t"))
    for name, text in {"a": "{", "B, c": right, "d": right, "e": "[]"}.items():
        (tmp_path / f"{name}.json").write_text(text, "utf-8")
    with pytest.raises(InvalidInput) as error:
        read_captured(tmp_path)
    assert [problem.where for problem in error.value.problems] == [
        "registry/captured/B, c.json:1",
        "a.json:1",
        "e.json:1",
    ]


@pytest.mark.parametrize("name", ["a", "transformers-led", "my_model.v2", "0" * 64])
def test_a_name_is_that_of_a_file_and_part_of_an_address(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize("name", ["", "A", "a b", "a,b", "../a", ".a", "-a", "a.", "a\n", "é", "0" * 65])
def test_what_a_disk_or_an_address_would_not_take_is_no_name(name: str) -> None:
    assert not is_name(name)


def test_a_program_is_known_by_name_even_where_it_hits_nothing() -> None:
    registry = merge_registry(knowledge({"GB0001": [revision("t")]}, captured=[captured("clean", ENVIRONMENT)]))
    assert [program.name for program in registry.programs] == ["clean"]


def test_a_type_that_nobody_knows_has_a_page_of_its_own_and_all_its_programs() -> None:
    programs = [captured("one", ENVIRONMENT, "unheard of"), captured("two", ENVIRONMENT, "unheard of")]
    registry = merge_registry(knowledge({"GB0001": [revision("t")]}, captured=programs))
    local = registry.breaks[-1]
    assert (local.gb_id, local.lifecycle, local.gb_type) == (local_id("unheard of"), "local", "unheard of")
    assert [sighting.name for sighting in local.sightings] == ["one", "two"]


def test_a_type_that_got_an_id_since_is_seen_under_it() -> None:
    registry = merge_registry(
        knowledge({"GB0001": [revision("was new")]}, captured=[captured("one", ENVIRONMENT, "was new")])
    )
    assert [gb.gb_id for gb in registry] == ["GB0001"]
    assert [sighting.name for sighting in registry.breaks[0].sightings] == ["one"]
