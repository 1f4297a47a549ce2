from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import InvalidInput
from registry.releases import dump_release, make_release, parse_release, read_releases
from registry.versions import version_key
from tests.conftest import ROOT
from tests.samples import release, revision, site

SOURCE = 'def f():\n    unimplemented(gb_type="{}", hints=["one " "two"])\n'


def test_a_type_with_two_ids_gets_the_last_one_in_file_order_as_torch_does() -> None:
    wordings = {"GB0002": (revision("t"),), "GB0001": (revision("t"),)}
    made = make_release("2.9.0", "w", wordings, {"torch/_dynamo/a.py": SOURCE.format("t")})
    assert [found.gb_id for found in made.call_sites] == ["GB0001"]
    assert list(made.wordings) == ["GB0001", "GB0002"]


def test_an_old_wording_still_names_its_id_and_a_type_without_one_has_none() -> None:
    wordings = {"GB0001": (revision("new"), revision("old"))}
    sources = {"torch/_dynamo/a.py": SOURCE.format("old"), "torch/_dynamo/b.py": SOURCE.format("unknown")}
    made = make_release("2.9.0", "w", wordings, sources)
    assert [(found.gb_type, found.gb_id) for found in made.call_sites] == [("old", "GB0001"), ("unknown", None)]


def test_a_hint_that_the_registry_holds_in_fragments_is_remembered_as_the_source_has_it() -> None:
    wordings = {"GB0001": (revision("t", hints=("one ", "two")),)}
    (found,) = make_release("2.9.0", "w", wordings, {"torch/_dynamo/a.py": SOURCE.format("t")}).call_sites
    assert found.joined_hints == ("one two",)


def test_a_release_file_reads_back_as_it_was_written() -> None:
    made = release(
        "2.9.0",
        {"GB0001": [revision("ünï", hints=("a", "b"))]},
        [site("ünï", "GB0001", joined_hints=["ab"]), site("x", None)],
    )
    assert parse_release(dump_release(made), "2.9.0.json") == made


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not a release file"),
        ("[]", "not a release file"),
        ('{"kind": "evidence", "schema": 1}', "kind is 'evidence'"),
        ('{"kind": "release", "schema": 99}', "schema 99 is newer"),
        ('{"kind": "release", "schema": 1}', "not a release file"),
    ],
)
def test_anything_else_is_refused_with_a_remedy(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse_release(text, "releases/x.json")


def test_releases_are_ordered_as_versions_not_as_text(tmp_path: Path) -> None:
    for torch in ("2.10.0", "2.9.1", "2.9.0"):
        (tmp_path / f"{torch}.json").write_text(dump_release(release(torch, {})), "utf-8")
    assert [one.torch for one in read_releases(tmp_path)] == ["2.9.0", "2.9.1", "2.10.0"]
    assert version_key("2.10.0") > version_key("2.9.1")


COMMITTED = {
    "2.8.0": (219, 219),
    "2.9.0": (272, 265),
    "2.9.1": (272, 265),
    "2.10.0": (370, 358),
    "2.11.0": (421, 396),
    "2.12.0": (455, 409),
    "2.12.1": (455, 409),
    "2.13.0": (517, 445),
    "2.14.0": (561, 470),
    "2.14.1": (561, 470),
    "2.15.0": (592, 488),
}


def test_the_committed_releases_hold_what_their_wheels_register_and_emit() -> None:
    releases = {one.torch: one for one in read_releases(ROOT / "registry" / "releases")}
    counted = {
        torch: (len(one.wordings), len({found.gb_id for found in one.call_sites if found.gb_id}))
        for torch, one in releases.items()
    }
    assert {torch: counted[torch] for torch in COMMITTED} == COMMITTED


@pytest.mark.torch
def test_the_committed_2_13_is_what_the_installed_torch_gives() -> None:
    """Read from another place (the installed package), by the same scan: the wheel on the index was read right."""
    import importlib.util

    from registry.releases import SOURCES_IN_WHEEL
    from registry.upstream import REGISTRY_PATH, parse_registry

    found = importlib.util.find_spec("torch")
    assert found is not None
    assert found.origin is not None
    site_packages = Path(found.origin).parent.parent
    sources = {
        name: path.read_text("utf-8")
        for path in (site_packages / "torch").rglob("*.py")
        if SOURCES_IN_WHEEL.fullmatch(name := path.relative_to(site_packages).as_posix())
    }
    wordings = parse_registry((site_packages / REGISTRY_PATH).read_bytes(), "torch").wordings
    committed = next(one for one in read_releases(ROOT / "registry" / "releases") if one.torch == "2.13.0")
    assert make_release("2.13.0", committed.wheel, wordings, sources, committed.built) == committed
