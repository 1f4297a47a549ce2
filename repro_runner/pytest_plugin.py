"""The pytest plugin: tests that fail on graph breaks and recompiles which they do not allow.

    @pytest.mark.graph_breaks                                       no break, wherever it is
    @pytest.mark.graph_breaks(max=2, allow=["GB0124"], recompiles=1)

    def test_a_step(graph_breaks):                                  ask during the test
        step(torch.ones(3))
        graph_breaks.check(allow=["vendor/**"])

pytest loads this module in every run of an environment in which the project is installed. That is why torch, and the
rest of the project, are imported only when a test or an option asks for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from repro_runner.explain.allowed import Entry
    from repro_runner.explain.report import Report
    from repro_runner.explain.site import Site

_MARKER = (
    "graph_breaks(max=0, allow=(), recompiles=None): fail if torch.compile breaks the graph at more than `max` sites; "
    "`allow` has ids, files or both, as in an allow-list; `recompiles` is the most that there may be"
)
_EXAMPLE = '@pytest.mark.graph_breaks(max=0, allow=["GB0124", "vendor/**"], recompiles=1)'
_MOST_NAMED = 3
"""How many sites are named in a line, and tests per site."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a test may do. None stands for any number."""

    breaks: int | None = None
    allow: tuple[Entry, ...] = ()
    recompiles: int | None = None


@dataclass(slots=True)
class GraphBreaks:
    """The fixture `graph_breaks`: the breaks and recompiles of this test so far."""

    folder: Path
    _fill: Callable[[], Report] | None = None
    """Of the watcher; None until something was compiled."""
    _watching: ExitStack = field(default_factory=ExitStack)
    _told: str = ""
    """Why the test failed."""

    @property
    def report(self) -> Report:
        """What was compiled since the test began."""
        from repro_runner.explain.report import Report

        return self._fill() if self._fill else Report()

    @property
    def sites(self) -> tuple[Site, ...]:
        """The places at which the graph broke, the most frequent first."""
        return self.report.sites

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of each site."""
        return tuple(site.gb_id for site in self.sites)

    def check(self, max: int = 0, allow: Sequence[str] = (), recompiles: int | None = None) -> None:
        """Fail the test, as the marker does, if there are more breaks or recompiles up to here."""
        limits = _limits({"max": max, "allow": allow, "recompiles": recompiles}, "graph_breaks.check")
        if why := _too_many(self.report, limits, self.folder):
            pytest.fail(why, pytrace=False)

    def _start(self) -> None:
        """Compile everything anew: what an earlier test compiled is not compiled again, and would not be seen."""
        import torch

        from repro_runner.explain import explain

        def compiled(fill: Callable[[], Report]) -> None:
            self._fill = fill

        self._fill, self._told = None, ""
        torch.compiler.reset()
        self._watching.enter_context(explain(compiled))

    def _judge(self, limits: Limits) -> None:
        """Fail the test if it has more than it may, and if that was not said before."""
        why = _too_many(self.report, limits, self.folder)
        before, self._told = self._told, why
        if why and why != before:
            pytest.fail(why, pytrace=False)


_WATCHED = pytest.StashKey[GraphBreaks]()
_LIMITS = pytest.StashKey[Limits]()
_FOUND = pytest.StashKey[str]()
"""The report of a test, as JSON: a worker of xdist sends it to the process that sums up."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("graph breaks", "graph breaks of torch.compile")
    group.addoption("--graph-breaks", action="store_true", help="report the breaks of all tests, each with its fix")
    group.addoption(
        "--graph-breaks-baseline",
        type=Path,
        metavar="FILE",
        help="fail tests with breaks that FILE does not allow, as `graphbreak explain --write-allow` writes it",
    )
    group.addoption(
        "--graph-breaks-write-baseline",
        type=Path,
        metavar="FILE",
        help="write a file that allows all breaks of this run",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    if _asked(config):
        config.pluginmanager.register(_Session(config, _read_baseline(config)), "graph-breaks-session")


def _asked(config: pytest.Config) -> bool:
    names = ("--graph-breaks", "--graph-breaks-baseline", "--graph-breaks-write-baseline")
    return any(config.getoption(name) for name in names)


def _read_baseline(config: pytest.Config) -> tuple[Entry, ...]:
    """Everything that is wrong with the options is said at once, before a test runs."""
    from registry.errors import InvalidInput
    from repro_runner.environment import NoTorch, describe_environment
    from repro_runner.explain.allowed import check_allow_target, read_allowed

    wrong: list[str] = []
    entries: tuple[Entry, ...] = ()
    try:
        describe_environment("cpu")
    except NoTorch as error:
        wrong.append(f"--graph-breaks: {error}")
    if baseline := config.getoption("--graph-breaks-baseline"):
        try:
            entries = read_allowed(baseline)
        except InvalidInput as error:
            wrong += map(str, error.problems)
    if written := config.getoption("--graph-breaks-write-baseline"):
        wrong += map(str, check_allow_target(written))
        if not written.absolute().parent.is_dir():
            wrong.append(f"--write-allow {written}: there is no such folder; make it first, or name another")
    if wrong:
        raise pytest.UsageError("\n".join(wrong).replace("--write-allow", "--graph-breaks-write-baseline"))
    return entries


@pytest.hookimpl(trylast=True)  # only the tests that are left
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    session: _Session | None = config.pluginmanager.get_plugin("graph-breaks-session")
    wrong: dict[str, None] = {}
    for item in items:
        marker = item.get_closest_marker("graph_breaks")
        try:
            limits = _limits_of(marker, item) if marker else Limits()
        except ValueError as error:
            wrong.update(dict.fromkeys(str(error).splitlines()))
            continue
        if marker or session or "graph_breaks" in getattr(item, "fixturenames", ()):
            item.stash[_LIMITS] = session.with_baseline(limits) if session else limits
            item.stash[_WATCHED] = GraphBreaks(config.rootpath)
    if wrong:
        raise pytest.UsageError("\n".join(wrong))


def _limits_of(marker: pytest.Mark, item: pytest.Item) -> Limits:
    if marker.args:
        raise ValueError(f"{item.nodeid}: graph_breaks takes names: {_EXAMPLE}")
    return _limits(marker.kwargs, item.nodeid)


def _limits(given: Mapping[str, Any], where: str) -> Limits:
    """The limits of a marker, or of `check`. Raises ValueError with everything that is wrong, a line each."""
    from registry.errors import InvalidInput
    from repro_runner.explain.allowed import parse_allowed

    known: dict[str, Any] = {"max": 0, "allow": (), "recompiles": None}
    wrong = [f"{where}: graph_breaks has no {name!r}: {_EXAMPLE}" for name in given.keys() - known.keys()]
    values = {**known, **given}
    for name in ("max", "recompiles"):
        value = values[name]
        if (value is not None or name == "max") and (type(value) is not int or value < 0):
            wrong.append(f"{where}: {name}={value!r} is not a whole number of at least 0")
    allow = values["allow"]
    entries: tuple[Entry, ...] = ()
    if isinstance(allow, str) or not all(isinstance(one, str) for one in allow):
        wrong.append(f'{where}: allow={allow!r} is not a list of texts such as ["GB0124"]')
    else:
        try:
            entries = parse_allowed((f"{where}: allow", line) for line in allow)
        except InvalidInput as error:
            wrong += map(str, error.problems)
    if wrong:
        raise ValueError("\n".join(wrong))
    return Limits(breaks=values["max"], allow=entries, recompiles=values["recompiles"])


@pytest.fixture
def graph_breaks(request: pytest.FixtureRequest) -> GraphBreaks:
    """The graph breaks and recompiles of this test: `.sites`, `.ids`, `.report`, `.check(max=0, …)`."""
    watched: GraphBreaks = request.node.stash[_WATCHED]
    return watched


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """A break in a fixture counts for the test in which it is set up or taken down."""
    if watched := item.stash.get(_WATCHED, None):
        watched._start()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    result = yield
    if watched := item.stash.get(_WATCHED, None):
        watched._judge(item.stash[_LIMITS])
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    watched = item.stash.get(_WATCHED, None)
    if watched is None:
        return (yield)
    try:
        with watched._watching:
            result = yield
    finally:
        _keep(item, watched.report)
    watched._judge(item.stash[_LIMITS])
    return result


def _keep(item: pytest.Item, report: Report) -> None:
    """For the summary, and for JUnit."""
    if not report.sites and not report.recompiles:
        return
    from repro_runner.explain.document import outcome_text
    from repro_runner.explain.render.sentences import where
    from repro_runner.explain.render.view import Outcome

    item.stash[_FOUND] = outcome_text(Outcome(report=report))
    for site in report.sites:
        place = where(site, item.config.rootpath)
        item.user_properties.append(("graph_break", f"{site.gb_id} {place} in {site.function}"))
    item.user_properties.append(("recompiles", str(len(report.recompiles))))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "teardown" and _FOUND in item.stash:
        vars(report)["graph_breaks"] = item.stash[_FOUND]  # xdist sends it along
    return report


def _too_many(report: Report, limits: Limits, folder: Path) -> str:
    """What to do about breaks and recompiles beyond the limits; empty if there are none."""
    from repro_runner.explain.allowed import judge_sites
    from repro_runner.explain.render.sentences import where
    from repro_runner.output.units import counted

    told = []
    new = judge_sites(report, limits.allow, folder=folder).new
    if limits.breaks is not None and len(new) > limits.breaks:
        found = ", ".join(f"{site.gb_id} {where(site, folder)}" for site in new[:_MOST_NAMED])
        more = ", …" if len(new) > _MOST_NAMED else ""
        told.append(f"{counted(len(new), 'new graph break')}, at most {limits.breaks} allowed: {found}{more}")
        told += [f"\n{text}" for text in _briefs(new, report.environment.get("torch", ""), folder)]
    if limits.recompiles is not None and len(report.recompiles) > limits.recompiles:
        from repro_runner.explain.render.view import recompile_lines

        told.append(f"{counted(len(report.recompiles), 'recompile')}, at most {limits.recompiles} allowed:")
        told += [f"  {line}" for line in recompile_lines(report.recompiles, folder)]
        told.append("  `graphbreak guards MODEL` says what each guard means, and what to do.")
    return "\n".join(told)


def _briefs(sites: Iterable[Site], torch: str, folder: Path) -> Iterator[str]:
    from repro_runner.explain.render.brief import brief_text
    from repro_runner.explain.render.formats import read_answers
    from repro_runner.explain.render.view import view_sites

    return map(brief_text, view_sites(sites, read_answers(), torch=torch, folder=folder))


@dataclass(slots=True)
class _Session:
    """Sums up all tests, also those that workers of xdist run."""

    config: pytest.Config
    baseline: tuple[Entry, ...]
    tests: int = 0
    found: dict[str, Report] = field(default_factory=dict)
    """Test -> what was compiled in it, for those with breaks or recompiles."""
    notes: list[str] = field(default_factory=list)

    def with_baseline(self, limits: Limits) -> Limits:
        """With a baseline, a break that nothing allows fails its test, also without a marker."""
        if not self.config.getoption("--graph-breaks-baseline"):
            return limits
        return replace(limits, breaks=limits.breaks or 0, allow=(*limits.allow, *self.baseline))

    @property
    def sites(self) -> tuple[Site, ...]:
        """Of all tests, each once."""
        from repro_runner.explain.merging import Gathering

        return Gathering(site for report in self.found.values() for site in report.sites).breaks

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.tests += report.when == "call"
        if text := getattr(report, "graph_breaks", ""):
            from repro_runner.explain.document import report_from_document

            self.found[report.nodeid] = report_from_document(json.loads(text))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(self.config, "workerinput"):
            return
        from repro_runner.explain.allowed import allow_list, judge_sites, write_allowed
        from repro_runner.explain.report import Report

        report = Report(sites=self.sites)
        if target := self.config.getoption("--graph-breaks-write-baseline"):
            write_allowed(target, allow_list(report, folder=self.config.rootpath))
            self.notes.append(f"{target} written")
        if self.config.getoption("--graph-breaks-baseline"):
            judgement = judge_sites(report, self.baseline, folder=self.config.rootpath)
            self.notes += judgement.notes
            # Each test may have stayed below a number that all of them together exceed.
            if judgement.surplus and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        from repro_runner.output.units import counted

        sites = self.sites
        torch = next((report.environment["torch"] for report in self.found.values()), "")
        terminalreporter.section("graph breaks")
        for site, text in zip(sites, _briefs(sites, torch, self.config.rootpath), strict=True):
            terminalreporter.write_line(f"{text}\n  in {self._tests_with(site)}\n")
        broken = sum(bool(report.sites) for report in self.found.values())
        again = sum(len(report.recompiles) for report in self.found.values())
        terminalreporter.write_line(
            f"{counted(len(sites), 'break site')} in {broken} of {counted(self.tests, 'test')}, "
            f"{counted(again, 'recompile')}"
        )
        for note in self.notes:
            terminalreporter.write_line(f"note: {note}")

    def _tests_with(self, site: Site) -> str:
        place = (site.file, site.line, site.gb_id)
        tests = [
            test
            for test, report in self.found.items()
            if place in {(one.file, one.line, one.gb_id) for one in report.sites}
        ]
        more = len(tests) - _MOST_NAMED
        return ", ".join(tests[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
