"""Check whether this environment has what a repro requires. This module does not need torch."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Mapping

_CONDITION = re.compile(r"\s*(>=|<=|==|<|>)\s*([\d.]+)\s*")


_REQUIRES = re.compile(r"^REQUIRES\s*=\s*(\{.*?\})", re.MULTILINE | re.DOTALL)


def requirements(source: str) -> dict[str, str]:
    """Read REQUIRES from the text of a repro: where it is not met, importing or even parsing the repro may fail.

    Raises ValueError if REQUIRES is not a plain dictionary.
    """
    found = _REQUIRES.search(source)
    try:
        required = ast.literal_eval(found[1]) if found else {}
    except (ValueError, SyntaxError) as error:
        raise ValueError("REQUIRES must be a plain dictionary of texts") from error
    return dict(required)


def unmet(requires: Mapping[str, str], torch: str, device: str) -> str:
    """The first requirement that this environment does not meet, as text; empty when all are met."""
    python = ".".join(map(str, sys.version_info[:2]))
    for key, wanted in requires.items():
        if key == "device" and device != wanted:
            return f"needs the device {wanted}"
        if key == "module" and importlib.util.find_spec(wanted) is None:
            return f"needs the module {wanted}"
        if key == "compiler" and not (shutil.which(os.environ.get("CXX", wanted)) and shutil.which("ninja")):
            return f"needs the compiler {wanted}, and ninja"
        if key == "python" and not _within(python, wanted):
            return f"needs Python {wanted}"
        if key == "release" and not _within(torch, wanted):
            return f"needs torch {wanted}"
    return ""


def _within(version: str, wanted: str) -> bool:
    """Whether a version meets every condition of a list such as `>=2.9,<2.14`."""
    return all(_holds(version, condition) for condition in wanted.split(","))


def _holds(version: str, condition: str) -> bool:
    parsed = _CONDITION.fullmatch(condition)
    if parsed is None:
        raise ValueError(f"REQUIRES: {condition!r} is not a condition such as '>=2.9'")
    operator, bound = parsed.groups()
    left, right = _numbers(version), _numbers(bound)
    length = max(len(left), len(right))
    left, right = (numbers + (0,) * (length - len(numbers)) for numbers in (left, right))
    return {">=": left >= right, "<=": left <= right, "==": left == right, "<": left < right, ">": left > right}[
        operator
    ]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])
