from __future__ import annotations

import pytest

from registry.errors import InvalidInput
from registry.evidence_file import Document, dump_document, merge_documents, new_document, parse_document, put_run

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
        ('{"kind": "evidence", "schema": 9, "environment": {}, "records": {}}', "schema 9 is newer than 1"),
        ('{"kind": "release", "schema": 1, "environment": {}, "records": {}}', "kind is 'release'"),
    ],
)
def test_what_is_no_evidence_of_ours_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parse_document(text, "x.json")


def test_a_document_reads_back_as_it_was_written() -> None:
    assert parse_document(dump_document(monday()), "x.json") == monday()
