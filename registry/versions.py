"""Versions of torch and Python: their order, and ranges of them such as `>=2.9,<2.14`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_CONDITION = re.compile(r"\s*(>=|<=|==|<|>)\s*([\d.]+)\s*")


@cache
def version_key(version: str) -> tuple[int, ...]:
    """Order final releases: 2.9.1 before 2.10.0."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def last_of_each_minor(releases: Iterable[str]) -> list[str]:
    """2.9.1 of 2.9.0 and 2.9.1, and so on, oldest first: the releases that people run."""
    last = {version_key(torch)[:2]: torch for torch in sorted(releases, key=version_key)}
    return list(last.values())


def within(version: str, wanted: str) -> bool:
    """Whether a version meets every condition of a range. Raises ValueError if the range is none."""
    return all(_meets(version, condition) for condition in wanted.split(","))


def _meets(version: str, condition: str) -> bool:
    parsed = _CONDITION.fullmatch(condition)
    if parsed is None:
        raise ValueError(f"{condition!r} is not a condition such as '>=2.9'")
    operator, bound = parsed.groups()
    left, right = _numbers(version), _numbers(bound)
    return {">=": left >= right, "<=": left <= right, "==": left == right, "<": left < right, ">": left > right}[
        operator
    ]


def _numbers(version: str) -> tuple[int, ...]:
    """Three numbers, so that 2.9 and 2.9.0 are the same; what follows a plus does not count."""
    numbers = version_key(version.partition("+")[0])[:3]
    return numbers + (0,) * (3 - len(numbers))
