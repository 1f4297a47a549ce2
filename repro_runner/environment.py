"""Describe the environment in which repros will run, without importing torch."""

from __future__ import annotations

import platform
import sys
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version

from repro_runner.process import run_command

TITLES = {
    "torch": "torch",
    "python": "Python",
    "device": "device",
    "device_name": "device name",
    "platform": "platform",
}
"""What a report calls the parts of an environment, in this order."""


class NoTorch(Exception):
    """torch is not installed in this environment."""


class NoGpu(Exception):
    """The user asked for a GPU, and torch finds none."""


def no_torch() -> NoTorch:
    """The error to raise: its text says how to install torch."""
    return NoTorch("torch is not installed in this environment; `pip install graph-break-registry[torch]`")


def describe_environment(device: str) -> dict[str, str]:
    """The header of an evidence file. Raises NoTorch, or NoGpu for the device `cuda`. One that only the user's own file
    registers has no name here."""
    try:
        torch = version("torch").partition("+")[0]
    except PackageNotFoundError as error:
        raise no_torch() from error
    return {
        "torch": torch,
        "python": ".".join(map(str, sys.version_info[:2])),
        "device": device,
        "device_name": _device_name(device),
        "platform": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "project": _project_version(),
    }


_ASK = """\
import sys, torch
module = torch.get_device_module(sys.argv[1])
print(module.get_device_name(sys.argv[1]) if module.is_available() else "")
"""


def _device_name(device: str) -> str:
    """The name that torch gives the device. A new process asks: a process that has used the driver must not fork."""
    kind = device.partition(":")[0]
    if kind in ("cpu", "meta"):
        return platform.machine() if kind == "cpu" else ""
    name = run_command([sys.executable, "-c", _ASK, device], seconds=300).stdout.text.strip()
    if not name and kind == "cuda":
        raise NoGpu("torch finds no GPU here; leave out `--device cuda`, or run it where there is one")
    return name


def _project_version() -> str:
    try:
        return version("graph-break-registry")
    except PackageNotFoundError:
        return ""
