"""Numbers as text for people, at the borders of their units too."""

from __future__ import annotations

import math

import pytest

from repro_runner.output.units import counted, magnitude, seconds, size


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ((0, "run"), "0 runs"),
        ((1, "run"), "1 run"),
        ((2, "run"), "2 runs"),
        ((1, "match", "matches"), "1 match"),
        ((2, "match", "matches"), "2 matches"),
    ],
)
def test_a_count_comes_with_its_noun(words: tuple[int, str], shown: str) -> None:
    assert counted(*words) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1024**2 - 1024, "1023.0 KiB"),
        (1024**2, "1.0 MiB"),
        (1024**3, "1.0 GiB"),
        (17179869184, "16.0 GiB"),
        (1024**4, "1.0 TiB"),
        (5000 * 1024**4, "5000.0 TiB"),
        (511.6, "512 B"),
        (1023.9, "1.0 KiB"),
        (1024**2 - 1, "1.0 MiB"),
    ],
)
def test_a_number_of_bytes(count: float, shown: str) -> None:
    assert size(count) == shown


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        (0.0, "0 ns"),
        (5e-10, "0.5 ns"),
        (1e-9, "1 ns"),
        (9.99e-7, "999 ns"),
        (1e-6, "1 µs"),
        (9.99e-4, "999 µs"),
        (1e-3, "1 ms"),
        (0.00125, "1.25 ms"),
        (0.999, "999 ms"),
        (1.0, "1 s"),
        (12.345, "12.3 s"),
        (999.0, "999 s"),
        (-0.002, "-2 ms"),
        (0.9999, "1 s"),
        (999.9e-6, "1 ms"),
        (1234.5, "1230 s"),
    ],
)
def test_a_time_has_three_digits(time: float, shown: str) -> None:
    assert seconds(time) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (True, "–"),
        (0, "0"),
        (0.0, "0"),
        (8388608, "8388608"),
        (1.2345e-07, "1.2e-07"),
        (0.25, "0.25"),
        (-3.14159, "-3.1"),
        (math.inf, "inf"),
        (math.nan, "nan"),
        ("Infinity", "Infinity"),
    ],
)
def test_a_magnitude_has_two_digits(value: object, shown: str) -> None:
    assert magnitude(value) == shown
