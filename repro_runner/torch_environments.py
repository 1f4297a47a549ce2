"""Environments with another release of torch: made by pip in a cache folder, used, and removed unless kept."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from repro_runner.output.units import size
from repro_runner.process import run_command
from repro_runner.process.pool import ROOT

PACKAGES = ("numpy", "tokenizers", "rich")
"""What programs of the corpus require beside torch, and what draws the bar."""
NEEDED = 8 * 1024**3
"""Bytes. A release of torch with its CUDA packages takes 5 to 7 GB."""
_SECONDS = 3600.0
_READY = "ready"
"""The file that an environment has when it is complete."""
_VERSION = re.compile(r"\d+\.\d+\.\d+")
# Instead of `-m`, which would look for modules in the current folder first. That folder belongs to the user.
_VERB = """\
import os, sys
_, root, parent, others, *words = sys.argv
sys.path[0] = root
sys.path += others.split(os.pathsep) if others else []
from repro_runner.process.linux import die_with_parent
die_with_parent(int(parent))
from repro_runner.cli import main
sys.exit(main(words))
"""


class Unavailable(Exception):
    """There is no environment with this release. The text says why, and what to do."""


def cache_folder() -> Path:
    """Where environments are made: GRAPHBREAK_CACHE, or a folder in the user's cache."""
    if own := os.environ.get("GRAPHBREAK_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "graphbreak"


@contextmanager
def installed(release: str, python: str = sys.executable, *, keep: bool = False) -> Iterator[str]:
    """The interpreter of an environment with this release. One that was kept is used again, and stays.

    Raises Unavailable. However this ends, no half of an environment is left.
    """
    folder = cache_folder() / f"torch-{release}-python-{_version_of(python)}"
    was_kept = (folder / _READY).exists()
    try:
        if not was_kept:
            _make(folder, release, python)
        yield str(_interpreter(folder))
    finally:
        if not was_kept and not (keep and (folder / _READY).exists()):
            shutil.rmtree(folder, ignore_errors=True)


def _interpreter(folder: Path) -> Path:
    return folder / "bin" / "python"


def _version_of(python: str) -> str:
    """`3.11`."""
    asked = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        found = run_command(asked, seconds=60).stdout.text.strip()
    except OSError as error:
        raise Unavailable(f"{python} can't be run: {error.strerror}; --python needs an interpreter") from error
    if not re.fullmatch(r"3\.\d+", found):
        raise Unavailable(f"{python} is not Python 3; --python needs an interpreter")
    return found


def _make(folder: Path, release: str, python: str) -> None:
    if not _VERSION.fullmatch(release):
        raise Unavailable(f"torch {release}: not a release; name one such as 2.15.0")
    try:
        shutil.rmtree(folder, ignore_errors=True)  # what a killed run has left
        folder.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder.parent).free
    except OSError as error:
        raise Unavailable(f"{folder.parent}: {error.strerror}; GRAPHBREAK_CACHE names another folder") from error
    if free < NEEDED:
        raise Unavailable(
            f"torch {release} needs {size(NEEDED)} in {folder.parent}, and {size(free)} are free; "
            "GRAPHBREAK_CACHE names another folder"
        )
    _command([python, "-m", "venv", "--without-pip", str(folder)], release)
    pip = [sys.executable, "-m", "pip", "--python", str(_interpreter(folder)), "install", "--no-input"]
    _command([*pip, f"torch=={release}", *PACKAGES], release)
    (folder / _READY).touch()


def _command(command: list[str], release: str) -> None:
    """Run a step. Raises Unavailable with the reason that pip gives."""
    ended = run_command(command, seconds=_SECONDS)
    if ended.result == {"code": 0}:
        return
    said = ended.stderr.text
    if versions := re.search(r"from versions: (.*?)\)", said):
        raise Unavailable(f"torch {release}: there is no such release for this Python; there are {versions[1]}")
    errors = re.findall(r"^ERROR: (.*)", said, re.MULTILINE)
    reason = ended.failure or (errors[0] if errors else ended.stderr.last_line or ended.stdout.last_line)
    raise Unavailable(f"torch {release} can't be installed: {reason}")


def verb_command(python: str, words: Sequence[str], packages: Sequence[str] = ()) -> list[str]:
    """The command that runs `graphbreak WORDS` with another interpreter.

    `packages` are folders in which it finds what it does not have itself.
    """
    return [python, "-c", _VERB, str(ROOT), str(os.getpid()), os.pathsep.join(packages), *words]
