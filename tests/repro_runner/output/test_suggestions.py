"""What is suggested for a name that does not exist."""

from __future__ import annotations

from repro_runner.output.suggestions import did_you_mean

DTYPES = ["float16", "float32", "bfloat16", "int8"]


def test_near_names_are_suggested_the_nearest_first() -> None:
    assert did_you_mean("flaot16", DTYPES) == "; did you mean float16 or bfloat16?"
    assert did_you_mean("flaot16", DTYPES, most=1) == "; did you mean float16?"
    assert did_you_mean("flaot16", DTYPES, most=1, spelled=repr) == "; did you mean 'float16'?"


def test_a_name_that_is_known_elsewhere_is_suggested_alone() -> None:
    assert did_you_mean("float16", DTYPES) == "; did you mean float16?"


def test_nothing_is_suggested_where_nothing_is_near() -> None:
    assert did_you_mean("zzz", DTYPES) == ""
    assert did_you_mean("float32", []) == ""
