"""Describe the environment in which repros will run, without importing torch."""

from __future__ import annotations

import platform
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version

from repro_runner.process import run_command


class NoTorch(Exception):
    """torch is not installed in this environment."""


class NoGpu(Exception):
    """The user asked for a GPU, and torch finds none."""


def no_torch() -> NoTorch:
    """The error to raise: its text says how to install torch."""
    return NoTorch("torch is not installed in this environment; `pip install graph-break-registry[torch]`")


def describe_environment(device: str) -> dict[str, str]:
    """The header of an evidence file. Raises NoTorch, or NoGpu for the device `cuda`."""
    try:
        torch = version("torch").partition("+")[0]
    except PackageNotFoundError as error:
        raise no_torch() from error
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
    """The name that torch gives the GPU. A new process asks: a process that has used the driver must not fork."""
    ask = "import torch; print(torch.cuda.get_device_name() if torch.cuda.is_available() else '')"
    name = run_command([sys.executable, "-c", ask], seconds=300).stdout.text.strip()
    if not name:
        raise NoGpu("torch finds no GPU here; leave out `--device cuda`, or run it where there is one")
    return name


def _project_version() -> str:
    try:
        return version("graph-break-registry")
    except PackageNotFoundError:
        return ""
