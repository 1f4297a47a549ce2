"""The corpus of changes, judged: honest ones are accepted, dishonest ones refused, and for the right reason."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.slow]

changes: Any = importlib.import_module("benchmarks.changes")
REASONS = {
    "honest/dropout_draws_the_same": "",
    "dishonest/arm_of_a_ternary": "results",
    "dishonest/compile_does_nothing": "graphs",
    "dishonest/settings_of_dynamo_changed": "torch itself",
    "dishonest/branch_in_an_operator": "hidden work",
    "dishonest/only_leaves_get_gradients": "gradients",
    "dishonest/input_no_longer_updated": "inputs",
    "dishonest/one_line_raise": "exceptions",
    "dishonest/class_attribute_forgotten": "state",
    "dishonest/window_shares_memory": "shared memory",
    "dishonest/one_random_draw_less": "random numbers",
    "dishonest/print_while_tracing": "standard output",
    "dishonest/debug_record_dropped": "log records",
}
"""One of each kind."""


def test_changes_of_every_kind_are_judged_for_the_right_reason() -> None:
    files = [path for path in changes.functions() if f"{path.parent.name}/{path.stem}" in REASONS]
    found = {f"{one.kind}/{one.name}": (one.verdict, one.reason) for one in changes.judge_functions(files)}
    expected = {name: ("refused" if reason else "accepted", reason) for name, reason in REASONS.items()}
    assert found == expected


PROGRAMS = {
    "honest/factor_of_at_most_one": ("accepted", ""),
    "honest/number_read_by_the_caller": ("for what ran", ""),
    "honest/greeting_moves_to_the_caller": ("for what ran", ""),
    "dishonest/eight_steps": ("refused", "when it ran"),
    "dishonest/does_not_exit": ("refused", "when it ran"),
    "dishonest/another_word_on_standard_error": ("refused", "when it ran"),
    "dishonest/where_is_another": ("refused", "before it ran"),
}


def test_changes_of_programs_are_judged_by_trying_them() -> None:
    folders = [path for path in changes.programs() if f"{path.parent.name}/{path.name}" in PROGRAMS]
    found = {f"{one.kind}/{one.name}": (one.verdict, one.reason) for one in changes.judge_programs(folders)}
    assert found == PROGRAMS


@pytest.mark.prove
@pytest.mark.timeout(3600)
def test_every_honest_change_is_accepted_and_of_the_dishonest_ones_almost_all_are_refused() -> None:
    found = [judged for listed, judge in changes.TABLES.values() for judged in judge(listed())]
    assert min(sum(one.kind == kind for one in found) for kind in changes.RIGHT) >= 80
    assert changes.is_good(found), [one for one in found if not one.is_right]


def test_what_is_not_judged_counts_for_neither_kind() -> None:
    def judged(kind: str, *verdicts: str) -> list[Any]:
        return [changes.Judged(kind=kind, name="one", verdict=verdict) for verdict in verdicts]

    refused = judged("dishonest", *["refused"] * 77)
    assert changes.is_good([*refused, *judged("dishonest", *["accepted"] * 3)])
    assert not changes.is_good([*refused, *judged("dishonest", *["accepted"] * 4)])
    assert not changes.is_good([*refused, *judged("dishonest", *["not judged"] * 4)])
    assert not changes.is_good([*refused, *judged("honest", "accepted", "not judged")])
