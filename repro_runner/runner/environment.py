"""Describe where repros are about to run, without importing torch."""

from __future__ import annotations

import platform
import subprocess
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version


class NoTorch(Exception):
    """torch is not installed here."""


def describe_environment(device: str) -> dict[str, str]:
    """The header of an evidence file."""
    try:
        torch = version("torch").partition("+")[0]
    except PackageNotFoundError as error:
        raise NoTorch(
            "torch is not installed in this environment; `pip install graph-break-registry[torch]`"
        ) from error
    return {
        "torch": torch,
        "python": ".".join(map(str, sys.version_info[:2])),
        "device": device,
        "device_name": _gpu_name() if device == "cuda" else platform.machine(),
        "platform": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "project": _project_version(),
    }


def _gpu_name() -> str:
    try:
        command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.partition("\n")[0].strip()


def _project_version() -> str:
    try:
        return version("graph-break-registry")
    except PackageNotFoundError:
        return ""
