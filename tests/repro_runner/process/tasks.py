"""What the children of the tests do."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from repro_runner.process import Job, Pool, Service, temporary_folder

_warmed: list[str] = []


def warm_up(*words: str) -> None:
    _warmed.extend(words)


def describe(arguments: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What a child sees of its surroundings."""
    return {
        "arguments": arguments,
        "warmed": _warmed,
        "folder": str(folder),
        "cwd": str(Path.cwd()),
        "group": os.getpgrp() == os.getpid(),
        "parent": os.getppid(),
        "stdin": sys.stdin.read(),
    }


def speak(arguments: dict[str, Any], _: Path) -> dict[str, Any]:
    print(arguments["out"], flush=True)
    print(arguments["err"], file=sys.stderr, flush=True)
    return {}


def raw(arguments: dict[str, Any], _: Path) -> dict[str, Any]:
    os.write(1, bytes(arguments["bytes"]))
    return {}


def misbehave(arguments: dict[str, Any], folder: Path) -> dict[str, Any]:
    how = arguments["how"]
    if how == "hangs":
        time.sleep(1000)
    elif how == "segfaults":
        ctypes.string_at(0)
    elif how == "leaves":
        os._exit(7)
    elif how == "raises":
        raise ValueError("not today")
    elif how == "closes its output":
        sys.stdout.close()
        os.close(1)
    elif how == "has a child that grows":
        grow = "import time; kept = bytearray(b'x') * 2**29; time.sleep(1000)"
        subprocess.run([sys.executable, "-c", grow], start_new_session=True, check=False)
    elif how == "grows":
        kept = bytearray()
        while True:
            kept += bytes(10**7)
    elif how == "leaves a child":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
        (folder / "child").write_text(str(child.pid), "utf-8")
    return {}


def hold_folders(_: dict[str, Any]) -> None:
    """Make a temporary folder, and have a child of one's own make another; name both, and hang."""
    with temporary_folder("test-") as folder, Pool(Service(task=f"{__name__}:hold_cwd", streams="inherited")) as pool:
        print(folder, file=sys.stderr, flush=True)
        pool.run(Job(key="one", arguments={}))


def hold_cwd(_: dict[str, Any], folder: Path) -> dict[str, Any]:
    print(folder, file=sys.stderr, flush=True)
    time.sleep(1000)
    return {}
