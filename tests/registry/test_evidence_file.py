from __future__ import annotations

import pytest

from registry.errors import InvalidInput
from registry.evidence_file import (
    Document,
    changed_runs,
    dump_document,
    lay_over,
    merge_documents,
    new_document,
    parse_document,
    put_run,
)

MONDAY = {"torch": "2.13.0", "python": "3.11", "device": "cpu", "date": "2026-01-05"}
TUESDAY = {**MONDAY, "date": "2026-01-06"}
RUN = {"verdict": "verified", "ids": ["GB0001"]}


def monday() -> Document:
    return put_run(new_document(MONDAY), "GB0001", "x", "eager", RUN, MONDAY)


def test_a_run_replaces_only_its_id_and_backend() -> None:
    both = put_run(monday(), "GB0001", "x", "mock", RUN, TUESDAY)
    again = put_run(both, "GB0001", "x", "eager", {"verdict": "stopped"}, TUESDAY)
    assert again["records"]["GB0001"]["runs"] == {"eager": {"verdict": "stopped"}, "mock": RUN}


def test_the_date_changes_only_when_a_record_does() -> None:
    assert put_run(monday(), "GB0001", "x", "eager", RUN, TUESDAY) == monday()
    assert put_run(monday(), "GB0002", "x", "eager", RUN, TUESDAY)["environment"]["date"] == "2026-01-06"


def test_runs_of_another_version_of_the_repro_go() -> None:
    changed = put_run(monday(), "GB0001", "y", "mock", RUN, TUESDAY)
    assert changed["records"]["GB0001"] == {"repro_sha256": "y", "runs": {"mock": RUN}}


def test_shards_in_any_order_give_the_bytes_of_one_run() -> None:
    whole = put_run(monday(), "GB0002", "x", "eager", RUN, MONDAY)
    other = put_run(new_document(MONDAY), "GB0002", "x", "eager", RUN, MONDAY)
    for shards in ((monday(), other), (other, monday())):
        assert dump_document(merge_documents((str(i), one) for i, one in enumerate(shards))) == dump_document(whole)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (
            put_run(
                new_document({**MONDAY, "torch": "2.14.0"}), "GB0002", "x", "eager", RUN, {**MONDAY, "torch": "2.14.0"}
            ),
            "made in 2.14.0",
        ),
        (put_run(new_document(MONDAY), "GB0001", "y", "eager", RUN, MONDAY), "another version of its repro"),
    ],
)
def test_shards_that_do_not_fit_are_refused(other: Document, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        merge_documents([("a.json", monday()), ("b.json", other)])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not an evidence file"),
        ('{"kind": "evidence", "schema": 9, "environment": {}, "records": {}}', "schema 9 is newer than 3"),
        ('{"kind": "release", "schema": 1, "environment": {}, "records": {}}', "kind is 'release'"),
    ],
)
def test_what_is_no_evidence_of_ours_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse_document(text, "x.json")


def test_a_document_reads_back_as_it_was_written() -> None:
    assert parse_document(dump_document(monday()), "x.json") == monday()


def seen(gb_id: str, sha256: str, verdict: str, environment: dict[str, str]) -> Document:
    return put_run(new_document(environment), gb_id, sha256, "eager", {**RUN, "verdict": verdict}, environment)


def laid(*newer: Document, **current: str) -> Document:
    return lay_over(monday(), "file.json", [(str(number), one) for number, one in enumerate(newer)], current)


def test_the_same_runs_on_another_day_change_no_byte() -> None:
    assert dump_document(laid(seen("GB0001", "x", "verified", TUESDAY), GB0001="x")) == dump_document(monday())


def test_a_changed_run_changes_its_record_and_the_date_and_leaves_the_others() -> None:
    after = laid(seen("GB0002", "y", "stopped", TUESDAY), GB0001="x", GB0002="y")
    assert after["environment"] == TUESDAY
    assert after["records"]["GB0001"] == monday()["records"]["GB0001"]
    assert list(changed_runs(monday(), after)) == [("GB0002", "eager", "not run", "stopped")]


def test_of_two_layers_the_later_one_counts() -> None:
    waiting, shard = (seen("GB0001", "x", verdict, TUESDAY) for verdict in ("failed", "stopped"))
    assert list(changed_runs(monday(), laid(waiting, shard, GB0001="x"))) == [
        ("GB0001", "eager", "verified", "stopped")
    ]


def test_a_change_that_is_taken_back_is_none() -> None:
    waiting, shard = (seen("GB0001", "x", verdict, TUESDAY) for verdict in ("failed", "verified"))
    assert laid(waiting, shard, GB0001="x") == monday()


@pytest.mark.parametrize("current", [{"GB0001": "x"}, {}], ids=["changed since", "deleted since"])
def test_runs_of_a_program_that_is_no_more_are_left_out(current: dict[str, str]) -> None:
    assert laid(seen("GB0001", "older", "failed", TUESDAY), **current) == monday()


def test_runs_of_another_environment_are_not_mixed_in() -> None:
    with pytest.raises(InvalidInput, match=r"0:1: made in 2\.13\.0 3\.12 cpu, but file\.json in 2\.13\.0 3\.11 cpu"):
        laid(seen("GB0001", "x", "failed", {**TUESDAY, "python": "3.12"}), GB0001="x")


def test_a_run_with_the_same_verdict_but_other_details_is_a_change() -> None:
    other = put_run(monday(), "GB0001", "x", "eager", {**RUN, "graphs": 2}, TUESDAY)
    assert list(changed_runs(monday(), other)) == [("GB0001", "eager", "verified", "verified")]
