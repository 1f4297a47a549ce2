"""Which tests run together and in which order, where several workers share the work.

A test that uses a fixture of its module stays with the others that use it: the fixture is made once. Everything else is
free to go to any worker. What takes longest starts first, so that no worker is left alone with it at the end.
`make durations` measures anew.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from registry.datafile import write_whole

if TYPE_CHECKING:
    from xdist.remote import Producer

DURATIONS = Path(os.environ.get("GRAPHBREAK_DURATIONS") or Path(__file__).with_name("durations.json"))
"""Seconds by test, for those that take at least WORTH_KNOWING."""
WORTH_KNOWING = 1.0
UNKNOWN = 0.1
"""Seconds that are assumed of a test which is not in the table."""

_SHARED_SCOPES = ("class", "module", "package")
_UNITS = "GRAPHBREAK_TEST_UNITS"
"""The variable that names a file: from it, the process that gives out work knows the units."""
_measured: defaultdict[str, float] = defaultdict(float)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-durations", action="store_true", help="write what this run measures to durations.json")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        handle, name = tempfile.mkstemp(prefix="graphbreak-test-units-")
        os.close(handle)
        os.environ[_UNITS] = name
        config.add_cleanup(lambda: Path(name).unlink(missing_ok=True))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m 'not (slow or torch)'`, a module that has one of these marks as a whole is not even imported."""
    left_out = re.fullmatch(r"not \(([\w ]+)\)", config.getoption("markexpr"))
    if not left_out or not collection_path.name.startswith("test_"):
        return None
    marks = re.search(
        r"^pytestmark = .*?(?=^\S|\Z)", collection_path.read_text("utf-8") + "\n", re.MULTILINE | re.DOTALL
    )
    found = set(re.findall(r"pytest\.mark\.(\w+)", marks[0])) if marks else set()
    return True if found & set(left_out[1].split(" or ")) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "prove" not in config.getoption("markexpr"):
        _leave_out(config, items, "prove")
    if not hasattr(config, "workerinput"):
        return  # one process alone runs them as they stand in their files
    units = {item.nodeid: _unit(item) for item in items}
    durations = read_durations()
    seconds: defaultdict[str, float] = defaultdict(float)
    for test, unit in units.items():
        seconds[unit] += durations.get(test, UNKNOWN)
    items.sort(key=lambda item: -seconds[units[item.nodeid]])
    write_whole(Path(os.environ[_UNITS]), json.dumps(units).encode())  # every worker writes the same


def _leave_out(config: pytest.Config, items: list[pytest.Item], marker: str) -> None:
    """Deselect what has a marker: it runs only where it is asked for."""
    left_out = [item for item in items if item.get_closest_marker(marker)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker(marker)]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    return UnitScheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


class UnitScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a worker that has nothing left the next unit, in the order in which workers collect them.

    xdist's own scheduler of groups looks for them in the names of tests, where pytest 9.2 no longer lets it put them.
    """

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return _units()[nodeid]


@cache
def _units() -> dict[str, str]:
    return dict(json.loads(Path(os.environ[_UNITS]).read_bytes()))


def _unit(item: pytest.Item) -> str:
    """What a test stays together with: all of its module that use a fixture of it, else nothing but itself."""
    if marked := item.get_closest_marker("xdist_group"):
        return str(marked.args[0])
    info = getattr(item, "_fixtureinfo", None)
    used = [made[-1] for made in info.name2fixturedefs.values()] if info else []
    shared = [made.argname for made in used if made.scope in _SHARED_SCOPES]
    if not shared:
        return item.nodeid
    call = getattr(item, "callspec", None)  # of a fixture with parameters, each is a fixture of its own
    which = [f"{name}={call.indices[name]}" for name in shared if name in call.indices] if call else []
    return " ".join([item.nodeid.partition("::")[0], *which])


def sampled(parts: int | Iterable[Any], first: int = 1) -> list[Any]:
    """The parts of a large check, or their numbers: `make test` runs the first, `make prove` all the others."""
    cases = list(range(parts) if isinstance(parts, int) else parts)
    return [*cases[:first], *(pytest.param(case, marks=pytest.mark.prove) for case in cases[first:])]


def read_durations() -> dict[str, float]:
    """Seconds by test; empty where nothing was measured yet."""
    return dict(json.loads(DURATIONS.read_text("utf-8"))) if DURATIONS.exists() else {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _measured[report.nodeid] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not session.config.getoption("--record-durations") or hasattr(session.config, "workerinput"):
        return
    found = {**read_durations(), **{name: round(seconds, 1) for name, seconds in _measured.items()}}
    root = session.config.rootpath
    kept = {
        name: seconds
        for name, seconds in sorted(found.items())
        if seconds >= WORTH_KNOWING and (root / name.partition("::")[0]).exists()
    }
    DURATIONS.write_text(json.dumps(kept, indent=0, ensure_ascii=False) + "\n", "utf-8")


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that the first worker to want it makes, and all others wait for."""
    alone = "PYTEST_XDIST_WORKER" not in os.environ
    shared = factory.getbasetemp() if alone else factory.getbasetemp().parent
    folder, finished = shared / name, shared / f"{name}.finished"
    with _locked(shared / f"{name}.lock"):
        if not finished.exists():
            folder.mkdir(exist_ok=True)  # an attempt that failed may have left it
            make(folder)
            finished.touch()
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
