"""Twelve real models: each site, id and count is what torch's own log and plain Python say, read by other means."""

from __future__ import annotations

import importlib
import logging
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import FrameType
from typing import Any

import pytest
import torch
import torch._dynamo.convert_frame
from torch._guards import CompileContext
from torch._logging._internal import set_logs

from registry.captured import dump_captured, read_captured
from repro_runner.capture.breaks import UserFrame
from repro_runner.explain import Report, Site, explain
from repro_runner.explain.fingerprint import take_fingerprint
from tests.committed import committed_registry
from tests.conftest import ROOT
from tests.repro_runner.fixtures.hugging_face_captures import NAMES, captured_name

pytestmark = [
    pytest.mark.torch,
    pytest.mark.xdist_group("hugging face"),  # each model is run once for all tests of it
    # transformers asks `is_torch_available()`, which is cached, in the middle of a model
    pytest.mark.filterwarnings("ignore:.*lru_cache:UserWarning"),
]

PLACE = re.compile(r"in user code at (?P<file>.+):(?P<line>\d+)$", re.MULTILINE)
LINK = re.compile(r"/gb/gb(\d{4})\.html")
LIMIT = re.compile(r"hit config\.recompile_limit.*\n +function: '.*' \((?P<file>.+):(?P<line>\d+)\)")
LIMIT_ID = "GB0039"
SAMPLE = ("wav2vec2",)
MODELS = [pytest.param(name, marks=[] if name in SAMPLE else pytest.mark.prove) for name in NAMES]

Place = tuple[str, int]


class ReadLog(logging.Handler):
    """Reads the log of graph breaks while it is written: in which compilations which ids were reported where."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: dict[Place, dict[str, None]] = {}
        self.compile_ids: dict[Place, set[str]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if limit := LIMIT.search(text):
            self._add(limit, [LIMIT_ID])
        elif place := PLACE.search(text):
            self._add(place, [f"GB{number}" for number in LINK.findall(text)])

    def _add(self, found: re.Match[str], gb_ids: list[str]) -> None:
        place = (found["file"], int(found["line"]))
        self.ids.setdefault(place, {}).update(dict.fromkeys(gb_ids))
        self.compile_ids.setdefault(place, set()).add(str(CompileContext.current_compile_id()))


@contextmanager
def reading_the_log() -> Iterator[ReadLog]:
    """What `TORCH_LOGS=graph_breaks` would print, and the warning of a function that was compiled too often."""
    set_logs(graph_breaks=True)
    names = [name for name in logging.root.manager.loggerDict if name.endswith(".__graph_breaks")]
    loggers = [logging.getLogger(name) for name in (*names, torch._dynamo.convert_frame.__name__)]
    reader = ReadLog()
    for logger in loggers:
        logger.addHandler(reader)
    try:
        yield reader
    finally:
        for logger in loggers:
            logger.removeHandler(reader)
        set_logs()


@dataclass(frozen=True)
class Ran:
    """One model's run, watched in two ways."""

    report: Report
    log: ReadLog
    eager: Counter[Place]
    """How often one call of the plain model gets to a line."""


@cache
def models() -> Any:
    """Imported when they are asked for: transformers takes seconds."""
    return importlib.import_module("tests.repro_runner.fixtures.hugging_face_models")


@cache
def ran(name: str) -> Ran:
    torch._dynamo.reset()
    example = models().build(name)
    with reading_the_log() as log, explain() as report:
        models().run_compiled(example)
    lines = {(frame.file, frame.line) for site in report for frame in site.stack}
    with counting_lines(lines) as visits:
        example.call(example.model)
    # A call over several lines comes back to its first one, at another instruction of it.
    eager: Counter[Place] = Counter()
    for (file, line, _instruction), visited in visits.items():
        eager[file, line] = max(eager[file, line], visited)
    return Ran(report=report, log=log, eager=eager)


@contextmanager
def counting_lines(lines: set[Place]) -> Iterator[Counter[tuple[str, int, int]]]:
    """Count how often Python begins each of these lines, by the instruction it begins with."""
    visits: Counter[tuple[str, int, int]] = Counter()
    files = {file for file, _ in lines}

    def in_function(frame: FrameType, event: str, _argument: Any) -> Any:
        file, line = frame.f_code.co_filename, frame.f_lineno
        if event == "line" and (file, line) in lines:
            visits[file, line, frame.f_lasti] += 1
        return in_function

    before = sys.gettrace()
    sys.settrace(lambda frame, _event, _argument: in_function if frame.f_code.co_filename in files else None)
    try:
        yield visits
    finally:
        sys.settrace(before)


def place_of(one: Site | UserFrame) -> Place:
    return one.file, one.line


@pytest.mark.parametrize("name", MODELS)
def test_every_site_and_its_ids_are_those_in_the_log(name: str) -> None:
    seen = ran(name)
    assert seen.report.sites
    assert (seen.report.unlisted, seen.report.compared) == ({}, True)
    assert {place_of(site): set(site.gb_ids) for site in seen.report} == {
        place: set(gb_ids) for place, gb_ids in seen.log.ids.items()
    }


@pytest.mark.parametrize("name", MODELS)
def test_the_cause_comes_before_what_it_surfaced_as(name: str) -> None:
    seen = ran(name)
    assert {place_of(site): site.gb_ids for site in seen.report} == {
        place: tuple(gb_ids) for place, gb_ids in seen.log.ids.items()
    }


@pytest.mark.parametrize("name", MODELS)
def test_a_site_was_compiled_as_often_as_the_log_says(name: str) -> None:
    seen = ran(name)
    assert {place_of(site): site.compiled for site in seen.report} == {
        place: len(compile_ids) for place, compile_ids in seen.log.compile_ids.items()
    }


@pytest.mark.parametrize("name", MODELS)
def test_a_site_ran_as_often_as_plain_python_gets_there(name: str) -> None:
    seen = ran(name)
    counted = {place_of(site): site.frequency.ran for site in seen.report if site.frequency.ran is not None}
    assert counted == {place: models().CALLS * reached(seen, place) for place in counted}


def reached(seen: Ran, place: Place) -> int:
    """How often one call gets to a site; where its function is cached, to the line that calls it."""
    (site,) = (site for site in seen.report if place_of(site) == place)
    return next(seen.eager[place_of(frame)] for frame in reversed(site.stack) if seen.eager[place_of(frame)])


def test_all_models_are_run() -> None:
    assert set(NAMES) == set(models().MODELS)


@pytest.mark.prove
def test_most_sites_were_counted_and_the_others_say_why_not() -> None:
    sites = [site for name in NAMES for site in ran(name).report]
    uncounted = [site for site in sites if site.frequency.ran is None]
    assert len(uncounted) < len(sites) / 2
    assert all(site.frequency.why_unknown for site in uncounted)


@pytest.mark.parametrize("name", MODELS)
def test_the_registry_has_what_the_model_hits(name: str) -> None:
    """Else `python -m tests.repro_runner.fixtures.hugging_face_captures` makes the file again."""
    report = ran(name).report
    committed = {program.name: program for program in read_captured(ROOT / "registry" / "captured")}
    taken = take_fingerprint(report, name=captured_name(name), about="", registry=committed_registry())
    assert taken.left_out == ()
    assert {one.gb_id: one.sites for one in taken.program.breaks} == {
        one.gb_id: one.sites for one in committed[captured_name(name)].breaks
    }


@pytest.mark.parametrize("name", MODELS)
def test_the_registry_has_no_path_and_no_source_of_the_model(name: str) -> None:
    text = (ROOT / "registry" / "captured" / f"{captured_name(name)}.json").read_text("utf-8")
    report = ran(name).report
    frames = [frame for site in report for frame in site.stack]
    private = {text for frame in frames for text in (frame.file, frame.file.rpartition("/")[2], frame.source.strip())}
    private |= {site.context for site in report} | {site.message for site in report}
    assert [one for one in private if one and one in text] == []
    fresh = take_fingerprint(report, name=name, about="", registry=committed_registry())
    assert [one for one in private if one and one in dump_captured(fresh.program)] == []
