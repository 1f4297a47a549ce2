"""The limits that the environment sets.

MOCK_ALIGNMENT=16 MOCK_ALIGNMENT_DIMS=-1 MOCK_DTYPES=float32,bfloat16 MOCK_DENY_OPS=sort,topk MOCK_MAX_MEMORY=2GiB
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from repro_runner.constraints.base import Constraint, Read, Setting, constraints_with_settings
from repro_runner.output.suggestions import did_you_mean
from repro_runner.output.units import A_SIZE, a_number, parse_number, parse_size

SWITCHES = ("MOCK_STRICT", "MOCK_CHECK_BACKWARD")
"""The variables of the mock backends that set no limit."""


def mock_variables() -> tuple[str, ...]:
    """Every variable that the mock backends read."""
    settings = (kind.setting for kind in constraints_with_settings())
    return (*SWITCHES, *(name for setting in settings if setting is not None for name in setting.variables()))


class Environment:
    """Variables while they are read. What is malformed is noted in `problems`, and read as None or left out."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._note_misspelt()

    def read(self, variable: str, reader: Read) -> Any:
        """What a variable says; None if it is unset or empty."""
        text = os.environ.get(variable, "").strip()
        return reader(self, text, variable) if text else None

    def switch(self, variable: str) -> bool | None:
        """A variable that is 0 or 1; None if it is unset or empty."""
        return self.read(variable, lambda file, text, key: file.flag(text, key))  # type: ignore[no-any-return]

    def constraints(self) -> tuple[Constraint, ...]:
        """The limits that have a variable, each at its default where that is not set."""
        found = []
        for kind in constraints_with_settings():
            if (setting := kind.setting) is not None and setting.variable:
                value = self.read(setting.variable, setting.read)
                options = self._options(setting)
                if (value := setting.default if value is None else value) is not None:
                    found.append(kind.from_setting(value, **options))
        return tuple(found)

    def _note_misspelt(self) -> None:
        """Others may have variables that begin as ours do: only one that is nearly ours is wrong."""
        known = [name.removeprefix("MOCK_") for name in mock_variables()]
        for variable, text in os.environ.items():
            before, _, name = variable.partition("MOCK_")
            if not before and text.strip() and name not in known:
                near = did_you_mean(name, known, most=1, cutoff=0.7, spelled="MOCK_{}".format)
                self.problems += [f"{variable}={text!r}: no such variable{near}"] if near else []

    def _options(self, setting: Setting) -> dict[str, Any]:
        found = {}
        for option, variable in setting.option_variables().items():
            if (value := self.read(variable, setting.options[option])) is not None:
                found[option] = value
                if not os.environ.get(setting.variable, "").strip():
                    self._complain(os.environ[variable], variable, f"belongs to {setting.variable}; set that, too")
        return found

    def _complain(self, text: str, variable: str, message: str) -> None:
        self.problems.append(f"{variable}={text!r}: {message}")

    def _entries(self, text: str, variable: str) -> list[str]:
        """The members of a list that is separated by commas."""
        entries = [entry.strip() for entry in text.split(",")]
        if not all(entries):
            self._complain(text, variable, "must be a list such as one,two")
        return list(filter(None, entries))

    def names(self, text: str, variable: str, problem: Callable[[str], str]) -> tuple[str, ...]:
        entries = self._entries(text, variable)
        for wrong in filter(None, map(problem, entries)):
            self._complain(text, variable, wrong)
        return tuple(entry for entry in entries if not problem(entry))

    def numbers(self, text: str, variable: str) -> tuple[int, ...]:
        found = (self.number(entry, variable) for entry in self._entries(text, variable))
        return tuple(number for number in found if number is not None)

    def number(self, text: str, variable: str, *, at_least: int | None = None) -> int | None:
        if (number := parse_number(text, at_least)) is None:
            self._complain(text, variable, f"must be {a_number(at_least)}")
        return number

    def size(self, text: str, variable: str) -> int | None:
        if (size := parse_size(text)) is None:
            self._complain(text, variable, f"must be {A_SIZE}")
        return size

    def flag(self, text: str, variable: str) -> bool | None:
        if text not in ("0", "1"):
            self._complain(text, variable, "must be 0 or 1")
            return None
        return text == "1"

    def choice(self, text: str, variable: str, choices: Sequence[str]) -> str | None:
        if text not in choices:
            self._complain(text, variable, f"must be {' or '.join(choices)}")
            return None
        return text
