"""Run the scripts in registry/finding_scripts/: does compiled code still give another result than eager?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from registry.findings import WRONG
from registry.model import FindingScript
from repro_runner.process import run_command
from repro_runner.runner.machine import child_environment
from repro_runner.runner.messages import without_place_and_time

_SECONDS = 300


def run_script(script: FindingScript, folder: Path, device: str) -> tuple[dict[str, Any], str]:
    """(what is kept of a run, what does not hold; empty if the finding does)."""
    variables = [f"{name}={value}" for name, value in child_environment(device).items()]
    command = ["env", "-i", *variables, sys.executable, str(folder / f"{script.name}.py")]
    ended = run_command(command, seconds=_SECONDS, folder=folder)
    said = ended.stderr.text.strip().rpartition("\n")[2]
    is_wrong = said == f"AssertionError: {WRONG}"
    if not is_wrong and ended.result != {"code": 0}:
        return {}, ended.failure or said
    printed = without_place_and_time(ended.stdout.text, folder)
    record = {"sha256": script.sha256, "wrong": is_wrong, "printed": printed}
    return record, "" if is_wrong else "compiled code gives the same result as eager here"
