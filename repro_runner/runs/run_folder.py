"""The folder of one run. No id is used twice, so that any number of processes can write at once."""

from __future__ import annotations

import glob
import json
import os
import platform
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from registry.datafile import write_whole
from registry.documents import Document, check_document, document_text, head
from registry.errors import InvalidInput, Problem, WriteFailed

SCHEMA = 1
ARTIFACTS = "GRAPHBREAK_ARTIFACTS"
MANIFEST = "run.json"
TRACEBACK = "traceback.txt"
REPORT = "report.html"
_RUN_ID = re.compile(r"(?P<second>\d{8}-\d{6})-[a-z]+-(?P<tail>[0-9a-f]{6})", re.ASCII)


def runs_home() -> Path:
    """Where runs are kept: $GRAPHBREAK_HOME, or `.graphbreak` in the current folder."""
    return Path(os.environ.get("GRAPHBREAK_HOME") or ".graphbreak").absolute()


def keeps_runs() -> bool:
    """Whether runs are kept: not with GRAPHBREAK_ARTIFACTS=0. InvalidInput if it is neither 0 nor 1."""
    said = os.environ.get(ARTIFACTS, "").strip()
    if said not in ("", "0", "1"):
        raise InvalidInput([Problem(f"{ARTIFACTS}={said!r}", "must be 0 or 1")])
    return said != "0"


class RunManifest(Document):
    """The fields that run.json has in every run. Each verb adds its arguments."""

    verb: str
    started: str
    pid: int
    host: str


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One run. Files are written whole or not at all; a name may have folders in it: `graphs/0000/forward.txt`."""

    path: Path

    @property
    def id(self) -> str:
        return self.path.name

    @classmethod
    def create(cls, verb: str, *, home: Path | None = None, **manifest: Any) -> RunFolder:
        """Make the folder and its manifest; WriteFailed if the disk refuses."""
        home = home or runs_home()
        now = datetime.now(timezone.utc)
        try:
            make_home(home)
            run = cls(_new_folder(home, verb, now))
        except OSError as error:
            raise WriteFailed(_refused(home, error)) from error
        started = now.isoformat(timespec="seconds")
        own: RunManifest = {
            **head("run", SCHEMA),
            "verb": verb,
            "started": started,
            "pid": os.getpid(),
            "host": platform.node(),
        }
        try:
            run.write_json(MANIFEST, {**own, **manifest})
        except BaseException:
            shutil.rmtree(run.path, ignore_errors=True)  # without a manifest it would not be listed
            raise
        return run

    def delete_if_empty(self) -> None:
        """Delete a run that holds nothing besides its manifest."""
        if [path.name for path in self.path.iterdir()] == [MANIFEST]:
            shutil.rmtree(self.path)

    def manifest(self) -> dict[str, Any]:
        """What `create` was given, by which process, and when."""
        return self.read_document(MANIFEST, "run")

    def write_json(self, name: str, document: Mapping[str, Any]) -> Path:
        """Write a document, readable by people: indented by two spaces, in the given order."""
        return self.write_text(name, document_text(document))

    def write_text(self, name: str, text: str) -> Path:
        return self.write_bytes(name, text.encode("utf-8", "backslashreplace"))

    def add_traceback(self, text: str) -> None:
        """Add what is known of where a process died, or a backend raised, to what is there."""
        if text:
            earlier = (self.path / TRACEBACK).read_text("utf-8") if self.has(TRACEBACK) else ""
            self.write_text(TRACEBACK, f"{earlier}\n{text}".lstrip("\n"))

    def write_bytes(self, name: str, content: bytes) -> Path:
        """The path written to; WriteFailed if the disk is full or the folder is gone."""
        path = self.path / name
        if not self.path.is_dir():
            raise WriteFailed(f"{self.path}: the run's folder vanished while the run went on; run it again")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, content)
        except OSError as error:
            raise WriteFailed(_refused(path, error)) from error
        return path

    def has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def read_json(self, name: str) -> Any:
        """A document; InvalidInput if it is missing or not JSON."""
        try:
            return json.loads((self.path / name).read_bytes())
        except OSError as error:
            raise InvalidInput([Problem(str(self.path / name), f"{error.strerror}; {_LIST}")]) from error
        except (ValueError, RecursionError) as error:
            raise InvalidInput([Problem(str(self.path / name), f"not JSON ({error}); run it again")]) from error

    def read_document(self, name: str, kind: str) -> dict[str, Any]:
        """A document of this kind; InvalidInput if it is something else, or newer than this version understands."""
        where = str(self.path / name)
        return check_document(self.read_json(name), {kind: SCHEMA}, where=where, remedy="run it again")


_LIST = "`graphbreak artifacts list` shows the runs there are"


def list_runs(home: Path | None = None) -> list[RunFolder]:
    """Every run, oldest first. Links, and folders without a manifest, are not runs."""
    home = home or runs_home()
    try:
        found = sorted((when, path) for path in home.iterdir() if (when := _sort_key(path.name)))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InvalidInput([Problem(str(home), f"{error.strerror}; set GRAPHBREAK_HOME to another folder")]) from error
    return [RunFolder(path) for _, path in found if not path.is_symlink() and _is_run(path)]


def find_run(name: str | None = None, home: Path | None = None) -> RunFolder:
    """A run by its id, by the beginning of it, or by its path; the newest without a name. InvalidInput if none fits."""
    runs = list_runs(home)
    if name is None:
        if not runs:
            raise InvalidInput([Problem(str(home or runs_home()), "no runs yet; `graphbreak check` makes one")])
        return runs[-1]
    if _is_run(Path(name)):
        return RunFolder(Path(name).absolute())
    found = [run for run in runs if run.id.startswith(name)]
    if len(found) != 1:
        raise InvalidInput([Problem(name, no_single_run(len(found)))])
    return found[0]


def find_runs(names: Sequence[str]) -> list[RunFolder]:
    """The runs with these names, oldest first. A name may be a folder of runs, too, or a pattern such as `2026*`.

    InvalidInput names each that stands for no run.
    """
    found: dict[Path, RunFolder] = {}
    problems: list[Problem] = []
    for name in names:
        try:
            found |= {run.path.resolve(): run for run in _find_several(name)}
        except InvalidInput as error:
            problems += error.problems
    if problems or not found:
        raise InvalidInput(problems or [Problem(name, no_single_run(0)) for name in names])
    return sorted(found.values(), key=lambda run: _sort_key(run.id) or (run.id, ""))


def _find_several(name: str) -> list[RunFolder]:
    folder = Path(name)
    if folder.is_dir() and not _is_run(folder):
        found = list_runs(folder.absolute())
    elif glob.has_magic(name) and not _is_run(folder):
        anchor = Path(folder.anchor or ".")
        paths = [path.absolute() for path in anchor.glob(str(folder.relative_to(folder.anchor))) if _is_run(path)]
        found = [RunFolder(path) for path in paths] or [run for run in list_runs() if fnmatchcase(run.id, name)]
    elif folder.stem == "report" and folder.is_file():
        return []  # a shell writes out `.graphbreak/*`, and the report that we wrote beside the runs is in it
    else:
        return [find_run(name)]
    if not found:
        raise InvalidInput([Problem(name, f"no runs there; {_LIST}")])
    return found


def no_single_run(count: int) -> str:
    """The message for a name with which `count` ids begin, where it had to be one."""
    problem = f"{count} runs begin so; write more of the id" if count else "no such run"
    return f"{problem}; {_LIST}"


def _is_run(folder: Path) -> bool:
    try:
        return (folder / MANIFEST).is_file()
    except OSError:  # not a valid file name
        return False


def _sort_key(name: str) -> tuple[str, str] | None:
    """The sort key of an id: the second, then the microsecond and a random digit; None if it is no id."""
    found = _RUN_ID.fullmatch(name)
    return (found["second"], found["tail"]) if found else None


def make_home(home: Path) -> None:
    """Make the folder for runs. If it is empty it gets a .gitignore, so that runs are not committed by accident."""
    home.mkdir(parents=True, exist_ok=True)
    if not any(home.iterdir()):
        (home / ".gitignore").write_text("*\n", "utf-8")


def _new_folder(home: Path, verb: str, now: datetime) -> Path:
    while True:
        tail = f"{now.microsecond:05x}{secrets.randbelow(16):x}"
        folder = home / f"{now:%Y%m%d-%H%M%S}-{verb}-{tail}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder


def _refused(path: Path, error: OSError) -> str:
    return f"{path}: {error.strerror}; make room, or set GRAPHBREAK_HOME to a folder that can be written to"
