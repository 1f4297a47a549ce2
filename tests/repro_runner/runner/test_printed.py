"""What a program prints: words and numbers count, layout does not."""

from __future__ import annotations

import sys

import pytest

from repro_runner.process import run_command
from repro_runner.runner.printed import not_printed
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("expected", "actual", "missing"),
    [
        ("", "more is fine", ""),
        ("mean tensor(-0.3104)", "mean -0.3104074001312256", ""),
        ("[tensor(1.5000), tensor(2.)]", "tensor(1.5000) tensor(2.)", ""),
        ("mean tensor(-0.3104)", "", "mean"),
        ("mean tensor(-0.3104)", "mean tensor(0.3104)", "-0.3104"),
        ("step 0\nstep 1", "step 0", "step"),
        ("step 0\nstep 1", "step step 1 1", "0"),
        ("1.5e-05", "0.000015", ""),
    ],
)
def test_every_word_and_number_has_to_be_printed(expected: str, actual: str, missing: str) -> None:
    assert not_printed(expected, actual) == missing


PROGRAM = """
import os
from repro_runner.runner.printed import printed

with printed() as found:
    print("from Python")
    os.write(1, b"from below\\n")
print(sorted("".join(found).splitlines()))
"""


def test_what_is_written_below_python_is_caught_too() -> None:
    ended = run_command([sys.executable, "-c", PROGRAM], seconds=60, folder=ROOT)
    assert ended.stdout.text == "['from Python', 'from below']\n"
