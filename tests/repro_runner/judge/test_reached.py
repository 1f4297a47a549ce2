"""Which parts of a program never ran, by the instructions that did."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from repro_runner.judge.reached import noted, unreached

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(sys.version_info < (3, 11), reason="older Pythons know only lines"),
]


def never(body: str, *calls: tuple[Any, ...]) -> list[str]:
    """What of `f` no call of it ran."""
    source = dedent(body)
    scope: dict[str, Callable[..., object]] = {}
    exec(compile(source, "f.py", "exec"), scope)
    positions: set[tuple[int, int, int, int]] = set()
    for given in calls:
        with noted({"f.py": positions}, set()):
            scope["f"](*given)
    return [f"{one.line}: {one.text}" for one in unreached(source, positions, within="f")]


@pytest.mark.parametrize(
    ("body", "given", "missed"),
    [
        ("def f(x):\n    return 1 / x if x else 0", (2,), ["2: 0"]),
        ("def f(x):\n    return 1 / x if x else 0", (0,), ["2: 1 / x"]),
        ("def f(x):\n    return x and x.real", (0,), ["2: x.real"]),
        ("def f(x):\n    return x or x.real or 3", (0,), []),
        ("def f(x):\n    if x: raise ValueError\n    return x", (0,), ["2: raise ValueError"]),
        ("def f(x):\n    assert x, f'{x} is nothing'", (1,), ["2: assert x, f'{x} is nothing' fails"]),
        ("def f(x):\n    assert x > 0", (1,), ["2: assert x > 0 fails"]),
        ("def f(x):\n    try:\n        assert x > 0\n    except AssertionError:\n        pass", (0,), []),
        ("def f(x):\n    return 0 < x < 5 < 9", (0,), ["2: 0 < x < 5 < 9"]),
        ("def f(x):\n    return 0 < x < 5 < 9", (1,), []),
        ("def f(x):\n    return [y + 1 for y in x if y > 3]", ([1],), ["2: y + 1"]),
        ("def f(x):\n    return {y: y.real for y in x}", ([],), ["2: y.real"]),
        ("def f(x):\n    return sum(y + 1 for y in x)", ([1],), []),
        ("def f(x):\n    for _ in range(x):\n        x += 1\n    else:\n        x = 0", (0,), ["3: x += 1"]),
        ("def f(x):\n    while x:\n        x -= 1\n        if x > 9:\n            break", (3,), ["5: break"]),
        ("def f(x):\n    try:\n        x = 1\n    except ValueError:\n        x = 2", (3,), ["5: x = 2"]),
        ("def f(x):\n    g = lambda y: y + 1\n    return x", (1,), ["2: y + 1"]),
        ("def f(x):\n    def g(y):\n        return y + 1\n    return x", (1,), ["3: return y + 1"]),
        ("def f(x):\n    if x:\n        if x > 5:\n            x = 2\n    return x", (0,), ["3: if x > 5:"]),
        ("def f(x: int = 3):\n    '''It has a text.'''\n    global y\n    y = x\n    pass", (1,), []),
        ("def f(x):\n    return 1\n\ndef g(x):\n    return 2", (1,), []),
    ],
)
def test_these_parts_never_ran(body: str, given: tuple[Any, ...], missed: list[str]) -> None:
    assert never(body, given) == missed


def test_every_call_counts() -> None:
    body = "def f(x):\n    return 1 / x if x else 0"
    assert never(body, (0,), (1,)) == []
    assert never(body) == ["2: return 1 / x if x else 0"]


def test_code_of_other_files_is_not_noted_and_an_error_loses_nothing(tmp_path: Path) -> None:
    positions: set[tuple[int, int, int, int]] = set()
    lines: set[int] = set()
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError), noted({str(tmp_path / "f.py"): positions}, lines):
        1 / 0  # noqa: B018
    assert (positions, lines) == (set(), set())
    with pytest.raises(ZeroDivisionError), noted({__file__: positions}, lines):
        (lambda: 1 / 0)()
    assert len(lines) == 1
    assert positions
    assert sys.gettrace() is before
