"""Check whether this environment has what a repro requires. This module does not need torch."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Mapping

from registry.versions import within

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
        if key == "python" and not within(python, wanted):
            return f"needs Python {wanted}"
        if key == "release" and not within(torch, wanted):
            return f"needs torch {wanted}"
    return ""
