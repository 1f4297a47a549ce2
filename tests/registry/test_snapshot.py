"""The snapshot: an id never disappears, a wording never gets lost, and an ETag never vouches for the wrong bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import InvalidInput
from registry.model import Origin, Revision, Wordings
from registry.snapshot import (
    ORIGIN_FILE,
    REGISTRY_FILE,
    SUPERSEDED_FILE,
    Snapshot,
    plan_snapshot,
    read_snapshot,
    sha256,
    superseded_by,
)
from registry.upstream import dump_registry

Registry = dict[str, tuple[Revision, ...]]


def revision(gb_type: str) -> Revision:
    return Revision(gb_type=gb_type, context="", explanation="", hints=())


def registry(**types: str) -> Registry:
    """registry(GB0001="new old") has one id with two revisions."""
    return {gb_id: tuple(map(revision, words.split())) for gb_id, words in types.items()}


def origin_of(raw: bytes, **changes: str) -> Origin:
    return replace(Origin(source="pytorch main", retrieved="2026-11-15", sha256=sha256(raw), etag='"v1"'), **changes)


def plan(old: Snapshot, wordings: Wordings) -> dict[str, str]:
    raw = dump_registry(wordings).encode()
    return plan_snapshot(old, raw, wordings, origin_of(raw))


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())


def start(folder: Path, wordings: Wordings) -> Snapshot:
    empty = Snapshot(raw=b"", wordings={}, origin=origin_of(b""), superseded={})
    write(folder, plan(empty, wordings))
    return read_snapshot(folder)


def everything(snapshot: Snapshot) -> set[tuple[str, Revision]]:
    both = [*snapshot.wordings.items(), *snapshot.superseded.items()]
    return {(gb_id, revision) for gb_id, revisions in both for revision in revisions}


def test_the_snapshot_that_ships_is_whole() -> None:
    snapshot = read_snapshot()
    assert len(snapshot.wordings) >= 592
    assert snapshot.origin.sha256 == sha256(snapshot.raw)
    assert snapshot.warnings == ()


def test_what_is_planned_is_what_is_read(tmp_path: Path) -> None:
    wordings = registry(GB0002="b", GB0001="a2 a1")
    raw = dump_registry(wordings).replace("\n", "\r\n").encode()
    old = start(tmp_path, registry(GB0001="a1"))
    write(tmp_path, plan_snapshot(old, raw, wordings, origin_of(raw)))
    assert read_snapshot(tmp_path) == Snapshot(raw=raw, wordings=wordings, origin=origin_of(raw), superseded={})


def test_what_upstream_drops_is_kept_as_superseded_newest_first(tmp_path: Path) -> None:
    snapshot = start(tmp_path, registry(GB0001="a1", GB0002="b2 b1", GB0003="c"))
    for step in (registry(GB0001="a2", GB0003="c"), registry(GB0001="a3", GB0003="c")):
        write(tmp_path, plan(snapshot, step))
        snapshot = read_snapshot(tmp_path)
    assert snapshot.superseded == registry(GB0001="a2 a1", GB0002="b2 b1")


def test_what_comes_back_is_no_longer_superseded(tmp_path: Path) -> None:
    snapshot = start(tmp_path, registry(GB0001="a", GB0002="b"))
    for step in (registry(GB0001="a"), registry(GB0001="a", GB0002="b")):
        write(tmp_path, plan(snapshot, step))
        snapshot = read_snapshot(tmp_path)
    assert snapshot.superseded == {}
    write(tmp_path, plan(snapshot, registry(GB0001="a", GB0002="b", GB0003="c")))
    assert json.loads((tmp_path / SUPERSEDED_FILE).read_text()) == {}


def test_what_a_new_registry_supersedes_is_known_before_anything_is_written(tmp_path: Path) -> None:
    snapshot = start(tmp_path, registry(GB0001="a2 a1", GB0002="b"))
    snapshot = replace(snapshot, superseded=registry(GB0001="a0", GB0003="c"))
    pulled = registry(GB0001="a3 a2", GB0003="c")
    assert superseded_by(snapshot, pulled) == registry(GB0001="a1 a0", GB0002="b")


def test_the_same_bytes_again_change_no_file(tmp_path: Path) -> None:
    wordings = registry(GB0001="a", GB0002="b")
    snapshot = start(tmp_path, wordings)
    for step in (registry(GB0001="a"), wordings):
        write(tmp_path, plan(snapshot, step))
        snapshot = read_snapshot(tmp_path)
    for name, text in plan(snapshot, wordings).items():
        assert (tmp_path / name).read_bytes() == text.encode(), name


def test_files_are_planned_in_the_order_in_which_to_write_them(tmp_path: Path) -> None:
    snapshot = start(tmp_path, registry(GB0001="a", GB0002="b"))
    assert list(plan(snapshot, registry(GB0001="a"))) == [SUPERSEDED_FILE, REGISTRY_FILE, ORIGIN_FILE]


REGISTRIES = st.dictionaries(
    st.sampled_from(["GB0001", "GB0002", "GB0003"]),
    st.lists(st.sampled_from("abcd").map(revision), min_size=1, max_size=3, unique=True).map(tuple),
    min_size=1,
)


@pytest.mark.slow
@settings(deadline=None)  # it writes files, and disks have moods
@given(pulls=st.lists(st.tuples(REGISTRIES, st.integers(0, 3)), min_size=1, max_size=6))
def test_killed_after_any_number_of_files_nothing_is_lost(
    pulls: list[tuple[Registry, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each pull is killed after 0 to 3 files; whatever a registry on the disk ever had is still there in the end."""
    folder = tmp_path_factory.mktemp("snapshot")
    snapshot = start(folder, registry(GB0001="a"))
    ever = everything(snapshot)
    for wordings, files_written in pulls:
        planned = list(plan(snapshot, wordings).items())
        write(folder, dict(planned[:files_written]))
        snapshot = read_snapshot(folder)
        ever |= {(gb_id, wording) for gb_id, revisions in snapshot.wordings.items() for wording in revisions}
        assert everything(snapshot) >= ever
        assert not snapshot.origin.etag or snapshot.origin.sha256 == sha256(snapshot.raw)


def test_an_etag_is_not_used_for_other_bytes_than_it_came_with(tmp_path: Path) -> None:
    assert start(tmp_path, registry(GB0001="a")).origin.etag == '"v1"'
    (tmp_path / REGISTRY_FILE).write_text(dump_registry(registry(GB0001="edited")))
    origin = read_snapshot(tmp_path).origin
    assert (origin.etag, origin.last_modified) == ("", "")
    assert origin.source == "pytorch main"


@pytest.mark.parametrize("name", [REGISTRY_FILE, ORIGIN_FILE, SUPERSEDED_FILE])
def test_a_missing_file_is_named_with_the_remedy(name: str, tmp_path: Path) -> None:
    start(tmp_path, registry(GB0001="a"))
    (tmp_path / name).unlink()
    with pytest.raises(InvalidInput, match=r"No such file or directory; `git checkout registry/snapshot`") as refusal:
        read_snapshot(tmp_path)
    assert refusal.value.problems[0].where == str(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", ["not JSON"]),
        ("\xff", ["not JSON"]),
        ("[" * 100_000, ["not JSON"]),
        ("[]", ["not a JSON object"]),
        ('{"source": "x", "retrieved": 3, "sha256": "", "etag": "a\\nb", "colour": ""}',
         ['"last_modified" is missing', '"colour" does not belong here', '"etag" has to be', '"retrieved" has to be']),
    ],
    ids=count(),
)  # fmt: skip
def test_a_damaged_origin_is_refused_with_every_problem(text: str, says: list[str], tmp_path: Path) -> None:
    start(tmp_path, registry(GB0001="a"))
    (tmp_path / ORIGIN_FILE).write_text(text, encoding="latin-1")
    with pytest.raises(InvalidInput) as refusal:
        read_snapshot(tmp_path)
    for problem, words in zip(refusal.value.problems, says, strict=True):
        assert str(problem).startswith(f"{tmp_path / ORIGIN_FILE}: {words}")


def test_planning_writes_nothing(tmp_path: Path) -> None:
    snapshot = start(tmp_path, registry(GB0001="a"))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    plan(snapshot, registry(GB0009="z"))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
