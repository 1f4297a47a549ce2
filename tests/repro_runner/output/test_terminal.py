"""Text on a terminal: one line, which can not steer it, and columns that stand below each other."""

from __future__ import annotations

import pytest

from repro_runner.output.terminal import plain, table
from tests.samples import HOSTILE


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with 'quotes' and a \\", "plain, with 'quotes' and a \\"),
        ("Gerät – 模型 … ∞", "Gerät – 模型 … ∞"),
        ("\x1b[31mred\x1b]8;;http://a.invalid\x07", "\\x1b[31mred\\x1b]8;;http://a.invalid\\x07"),
        ("one\ntwo\r\nthree\tfour", "one\\ntwo\\r\\nthree\\tfour"),
        ("a\u2028b\x85c\x0b", "a\\u2028b\\x85c\\x0b"),
        ("\u202egnp.exe\u2066\u200b\ufeff", "\\u202egnp.exe\\u2066\\u200b\\ufeff"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("\ud800", "\\ud800"),
        (3, "3"),
        (None, "None"),
        ("", ""),
    ],
)
def test_a_text_is_one_line_that_can_not_steer_the_terminal(text: object, shown: str) -> None:
    assert plain(text) == shown


def test_whatever_is_left_can_be_printed() -> None:
    for text in (*HOSTILE, *map(chr, range(0x3000))):
        assert plain(text).isprintable()
        assert plain(plain(text)) == plain(text)


def test_columns_stand_below_each_other() -> None:
    rows = [("op", "calls", "where"), ("mm", 12, "a.py:3"), ("softmax", 3, "")]
    assert table(rows) == [
        "op       calls  where",
        "mm       12     a.py:3",
        "softmax  3",
    ]
    assert table(rows, right=[1], indent="  ") == [
        "  op       calls  where",
        "  mm          12  a.py:3",
        "  softmax      3",
    ]


def test_a_cell_can_not_steer_the_terminal_or_break_its_row() -> None:
    assert table([("a\nb", "\x1b[2J"), ("c", "d")]) == ["a\\nb  \\x1b[2J", "c     d"]


def test_a_table_without_rows_has_no_lines_and_every_row_has_all_columns() -> None:
    assert table([]) == []
    with pytest.raises(ValueError, match=r"shorter|longer"):
        table([("a", "b"), ("c",)])
