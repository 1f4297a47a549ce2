"""The limits that the environment sets.

MOCK_ALIGNMENT=16 MOCK_ALIGNMENT_DIMS=-1 MOCK_DTYPES=float32,bfloat16 MOCK_DENY_OPS=sort,topk MOCK_MAX_MEMORY=2GiB
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from repro_runner.constraints.base import Constraint, Read, Setting, constraints_with_settings
from repro_runner.output.units import A_SIZE, a_number, parse_number, parse_size


class Environment:
    """Variables while they are read. What is malformed is noted in `problems`, and read as None or left out."""

    def __init__(self) -> None:
        self.problems: list[str] = []

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
