"""Versions: their order, and ranges."""

from __future__ import annotations

import pytest

from registry.versions import last_of_each_minor, version_key, within


def test_releases_are_ordered_by_their_numbers() -> None:
    assert sorted(["2.10.0", "2.9.1", "2.9.0"], key=version_key) == ["2.9.0", "2.9.1", "2.10.0"]


def test_the_last_of_each_minor_release_is_the_one_that_people_run() -> None:
    assert last_of_each_minor(["2.10.0", "2.9.0", "2.12.1", "2.9.1", "2.12.0"]) == ["2.9.1", "2.10.0", "2.12.1"]


@pytest.mark.parametrize(
    ("version", "wanted", "holds"),
    [
        ("2.9.1", ">=2.9", True),
        ("2.9.0+cpu", "==2.9", True),
        ("2.10.0", "<2.9", False),
        ("2.13.0", ">=2.9,<2.14", True),
        ("2.14.0", ">=2.9,<2.14", False),
        ("3.11", ">3.11", False),
        ("3.12", "<= 3.12", True),
    ],
)
def test_a_version_meets_every_condition_of_a_range(version: str, wanted: str, holds: bool) -> None:
    assert within(version, wanted) is holds


def test_what_is_no_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'~2\.9' is not a condition"):
        within("2.9.0", "~2.9")
