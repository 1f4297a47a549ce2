"""tt-xla logs: graphs, stages, errors, places, who split, and what a log is not fit to tell."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.matching import Matcher
from repro_runner.logs import tt_xla
from repro_runner.logs.model import Input, LogPart
from repro_runner.logs.tt_xla.part import GraphDocument
from tests.committed import committed_registry
from tests.repro_runner.fixtures.tt_xla_logs import (
    END,
    MODEL,
    STAGES,
    Compiled,
    as_bytes,
    big_module,
    breaking,
    compiling,
    header,
    interleaved,
    stage_header,
    tracing,
)

RESUMED = "torch_dynamo_resume_in_forward_at_13"
TORCH_XLA_CAUSE = (
    "Compilation Analysis: ================",
    "Compilation Analysis: Compilation Cause",
    "Compilation Analysis:   user mark_step",
)


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.from_registry(committed_registry())


def read(matcher: Matcher, *blocks: bytes) -> LogPart:
    reader = tt_xla.open_reader(Input(log="run.log", matcher=matcher))
    for block in blocks:
        reader.feed(block)
    return reader.finish()


def documents(part: LogPart) -> list[GraphDocument]:
    return cast("list[GraphDocument]", part.details["graphs"])


def splits(part: LogPart) -> list[str]:
    return [graph["split"] for graph in documents(part)]


def traced(function: str = "forward", line: int = 10, frame: str = "0/0") -> list[str]:
    """What +dynamo prints of one frame whose graph the backend has compiled."""
    *before, calling = tracing(function, line, frame)
    return [*before, calling, calling.replace("calling", "done")]


def whole_log() -> bytes:
    """Three graphs: two by a break, one that failed."""
    failing = Compiled(stages=STAGES[9][:4], failure="requires compatible element types", lines=(20,))
    return as_bytes(
        chain(
            traced(),
            breaking(),
            compiling(Compiled()),
            traced(RESUMED, 13, "1/0"),
            compiling(Compiled(function=RESUMED, lines=(14,))),
            traced("second", 18, "2/0"),
            compiling(failing),
        )
    )


@pytest.mark.parametrize("markers", [6, 7, 8, 9])
def test_graphs_are_counted_by_vhlo_headers_however_many_markers_a_release_prints(
    matcher: Matcher, markers: int
) -> None:
    part = read(matcher, as_bytes(chain.from_iterable(compiling(Compiled(stages=STAGES[markers])) for _ in range(5))))
    assert (part.graphs, part.details["markers"]) == (5, 5 * markers)
    assert {graph.last_stage for graph in part.graph_list} == {STAGES[markers][-1]}
    assert all(graph.stages == STAGES[markers] for graph in part.graph_list)


def test_old_headers_give_the_same_as_new_ones(matcher: Matcher) -> None:
    old, new = (read(matcher, as_bytes(compiling(Compiled(stages=STAGES[6]), old=old))) for old in (True, False))
    assert old.graph_list == new.graph_list
    assert old.graphs == 1


@pytest.mark.parametrize("reached", [3, 4])
def test_a_failed_graph_counts_as_one_and_has_its_error_with_its_line(matcher: Matcher, reached: int) -> None:
    failing = Compiled(stages=STAGES[9][:reached], failure="requires compatible element types")
    text = as_bytes(chain(compiling(Compiled()), compiling(failing), compiling(Compiled())))
    part = read(matcher, text)
    assert part.graphs == 3
    assert [graph.last_stage for graph in part.graph_list] == ["ttnn_runtime", STAGES[9][reached - 1], "ttnn_runtime"]
    assert [bool(graph.error) for graph in part.graph_list] == [False, True, False]
    assert any(
        note.startswith("graph 2: ") and note.endswith("failed: Failed to convert from SHLO to TTIR module")
        for note in part.notes
    )
    lines = text.decode().split("\n")
    line = next(number for number, one in enumerate(lines, 1) if "error: requires" in one)
    assert part.errors == (
        f'line {line}: loc("reshape.59"): error: requires compatible element types',
        f"line {line + 1}: Failed to convert from SHLO to TTIR module",
    )
    assert documents(part)[1]["errors"] == list(part.errors)


def test_an_error_of_the_runtime_fails_no_graph(matcher: Matcher) -> None:
    error = header("Failed to execute", level="ERR").replace("module_builder.cc", "executable_run.cc")
    part = read(matcher, as_bytes([*compiling(Compiled()), error]))
    assert part.graph_list[0].error == ""
    assert [one.partition(": ")[2] for one in part.errors] == ["Failed to execute"]


def test_of_a_block_full_of_errors_the_first_are_listed_and_all_are_counted(matcher: Matcher) -> None:
    before = list(compiling(Compiled()))
    part = read(matcher, as_bytes(before), b'loc("a"): error: no\n' * 20_000)
    assert len(part.errors) == 1000
    assert part.errors[-1] == f'line {len(before) + 1000}: loc("a"): error: no'
    assert "19000 more errors are not listed" in part.notes


def test_threads_that_compile_at_the_same_time_are_told_apart(matcher: Matcher) -> None:
    threads = [
        list(compiling(Compiled(stages=STAGES[9], thread="8C291140"))),
        list(compiling(Compiled(stages=STAGES[9][:3], thread="7F0A1B2C", failure="no such thing"))),
        list(compiling(Compiled(stages=STAGES[6], thread="7F0A1B2D"))),
    ]
    part = read(matcher, as_bytes(interleaved(*threads)))
    assert part.graphs == 3
    assert {graph["thread"]: graph["stages"][-1] for graph in documents(part)} == {
        "8C291140": "ttnn_runtime",
        "7F0A1B2C": "shlo_frontend",
        "7F0A1B2D": "ttnn",
    }
    failed = next(graph for graph in documents(part) if graph["thread"] == "7F0A1B2C")
    assert any("no such thing" in error for error in failed["errors"])


def test_a_log_cut_in_a_stage_says_where(matcher: Matcher) -> None:
    text = as_bytes(compiling(Compiled()))
    cut = text[: text.index(b"MLIR Module ttir:") + 200]
    part = read(matcher, cut)
    assert (part.graphs, part.graph_list[0].last_stage) == (1, "ttir")
    assert any("reached ttir, whose text does not end" in note for note in part.notes)


def test_stages_whose_beginning_is_missing_are_shown_but_not_counted(matcher: Matcher) -> None:
    text = as_bytes(chain(compiling(Compiled()), compiling(Compiled())))
    part = read(matcher, text[text.index(b"MLIR Module shlo_frontend:") - 100 :])
    assert part.graphs == 1
    assert [graph.stages[0] for graph in part.graph_list] == ["shlo_frontend", "vhlo"]
    assert any("1 of them began before this log does" in note for note in part.notes)


@pytest.mark.parametrize(
    ("marker", "where"),
    [
        ('loc("/home/user/net.py:12")', "/home/user/net.py:12"),
        ('loc("/home/user/net.py":12:4)', "/home/user/net.py:12"),
        ("loc(\"0|Net[net]|Linear[net['0']]|/home/user/net.py:10|forward|12|aten__add\")", "/home/user/net.py:12"),
        ('loc("add.5")', ""),
        ('loc("-1|unknown|unknown|-1|aten__add")', ""),
    ],
)  # fmt: skip
def test_places_are_read_from_every_form_of_marker(matcher: Matcher, marker: str, where: str) -> None:
    part = read(matcher, as_bytes([stage_header("vhlo"), "module @a {", "}", f"#loc1 = {marker}", END]))
    assert part.graph_list[0].location == where


def test_the_places_of_a_graph_are_its_most_frequent_ones(matcher: Matcher) -> None:
    part = read(matcher, as_bytes(compiling(Compiled(operations=9, lines=(12, 12, 14)))))
    assert documents(part)[0]["places"] == [
        {"file": MODEL, "line": 12, "function": "forward", "operations": 6},
        {"file": MODEL, "line": 14, "function": "forward", "operations": 3},
    ]


def test_breaks_in_the_log_are_those_that_dynamo_reports(matcher: Matcher) -> None:
    text = whole_log()
    part = read(matcher, text)
    (found,) = part.breaks
    assert (found.gb_ids, found.file, found.line, found.kind) == (("GB0170",), MODEL, 13, "resumed")
    assert text.split(b"\n")[found.log_line - 1].endswith(b"Graph Break Reason: Data-dependent branching")
    assert part.details["dynamo_graphs"] == 3


def test_a_break_that_another_thread_prints_into_a_module_is_not_lost(matcher: Matcher) -> None:
    lines = list(compiling(Compiled(operations=40)))
    part = read(matcher, as_bytes([*lines[:10], *breaking(), *lines[10:]]))
    assert [found.gb_ids for found in part.breaks] == [("GB0170",)]


SPLIT: dict[str, tuple[Callable[[], Iterator[str]], str]] = {
    "a frame that Dynamo resumes": (
        lambda: chain(tracing(RESUMED, 13, "1/0"), compiling(Compiled(), locations=False)),
        "Dynamo",
    ),
    "code that is run after a break": (lambda: compiling(Compiled(function=RESUMED)), "Dynamo"),
    "a frame of its own": (lambda: chain(tracing("other", 30, "1/0"), compiling(Compiled())), "own"),
    "a second graph for one frame": (lambda: compiling(Compiled()), "torch_xla"),
    "a cause that torch_xla prints": (lambda: chain(TORCH_XLA_CAUSE, compiling(Compiled())), "torch_xla"),
    "an exported program": (
        lambda: chain(["I0514 11:30:41.000001 1 torch/export/_trace.py:1] Exported"], compiling(Compiled())),
        "export",
    ),
}


@pytest.mark.parametrize("case", SPLIT)
def test_who_split_the_graph_is_told_by_what_the_log_shows(matcher: Matcher, case: str) -> None:
    second, expected = SPLIT[case]
    part = read(matcher, as_bytes(chain(tracing(), compiling(Compiled()), second())))
    assert splits(part) == ["own", expected]
    assert part.graph_list[1].split_by == ("" if expected == "own" else expected)


def test_without_lines_of_dynamo_it_is_not_told_who_split(matcher: Matcher) -> None:
    part = read(matcher, as_bytes(chain(compiling(Compiled()), compiling(Compiled()))))
    assert splits(part) == ["own", "not told"]
    assert part.graph_list[1].split_by == ""
    assert "of the graphs after the first: 1 whose splitter this log does not tell" in part.notes


@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.parametrize("locations", [True, False])
def test_a_log_is_unfit_for_what_it_was_not_made_for(matcher: Matcher, dynamo: bool, locations: bool) -> None:
    part = read(matcher, as_bytes(chain(tracing() if dynamo else (), compiling(Compiled(), locations=locations))))
    assert part.details["made_with"] == {
        "TTXLA_LOGGER_LEVEL=DEBUG": True,
        "TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG": False,
        "XLA_HLO_DEBUG=1": locations,
        "TORCH_LOGS=+dynamo": dynamo,
    }
    assert ["lines of Python" in unfit.question for unfit in part.unfit].count(True) == (not locations)
    assert ["split the graph" in unfit.question for unfit in part.unfit].count(True) == (not dynamo)
    for unfit in part.unfit:
        assert unfit.command == (
            "TTXLA_LOGGER_LEVEL=DEBUG TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG XLA_HLO_DEBUG=1 TORCH_LOGS=+dynamo "
            "python script.py > script.log 2>&1"
        )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([header("Opening devices", level="1")], "so tt-xla is a Release build"),
        ([header("Something odd", level="WARN")], "TTXLA_LOGGER_LEVEL was not DEBUG, or tt-xla is a Release build"),
    ],
)
def test_a_log_without_stages_is_unfit_to_count_graphs(matcher: Matcher, lines: Sequence[str], said: str) -> None:
    part = read(matcher, as_bytes(lines))
    assert (part.format, part.graphs) == ("tt-xla", None)
    assert said in part.unfit[0].why
    assert "grep CMAKE_BUILD_TYPE build/CMakeCache.txt" in part.unfit[0].why


def test_the_level_of_the_runtime_is_seen(matcher: Matcher) -> None:
    part = read(matcher, as_bytes([*compiling(Compiled()), "   RuntimeTTNN |    DEBUG | Executing operation: %0"]))
    assert cast("dict[str, bool]", part.details["made_with"])["TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG"]


def test_what_the_runtime_can_not_do_is_an_error(matcher: Matcher) -> None:
    fatal = "2026-05-14 11:30:43.471 | critical |          Always | TT_FATAL: out of memory (assert.hpp:104)"
    part = read(matcher, as_bytes([*compiling(Compiled()), fatal]))
    assert [error.partition(": ")[2] for error in part.errors] == [fatal]


def test_a_log_of_something_else_gives_what_is_in_its_text(matcher: Matcher) -> None:
    part = read(matcher, as_bytes(breaking()))
    assert part.format == "graph_breaks"
    assert [found.gb_ids for found in part.breaks] == [("GB0170",)]


def test_a_log_is_recognised_by_a_line_of_its_logger_or_of_torch_xla() -> None:
    assert tt_xla.recognise(as_bytes(chain(tracing(), compiling(Compiled()))))
    assert tt_xla.recognise(as_bytes([header("Something odd", level="WARN")]))
    assert tt_xla.recognise(as_bytes(chain(tracing(), ["/opt/venv/site-packages/torch_xla/runtime.py:1: a warning"])))
    assert not tt_xla.recognise(as_bytes(chain(tracing(), breaking())))


@settings(max_examples=40, deadline=None)
@given(cuts=st.lists(st.integers(0, 20_000), max_size=8))
def test_blocks_may_end_anywhere(matcher: Matcher, cuts: list[int]) -> None:
    text = whole_log()
    ends = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    assert read(matcher, *(text[a:b] for a, b in pairwise(ends))) == read(matcher, text)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_is_left_of_a_log_its_whole_headers_and_breaks_count(matcher: Matcher, data: st.DataObject) -> None:
    text = whole_log()
    start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    noise = data.draw(st.binary(max_size=50))
    left = text[start:end].partition(b"\n")[2].rpartition(b"\n")[0] + b"\n"
    part = read(matcher, left + noise)
    assert part.format != "tt-xla" or (part.graphs or 0) == left.count(b"MLIR Module vhlo:")
    assert part.format == "tt-xla" or b"MLIR Module" not in left
    assert len(part.breaks) >= (as_bytes(breaking()) in left)


def test_a_constant_of_many_megabytes_on_one_line_is_passed_over(matcher: Matcher) -> None:
    before = as_bytes([stage_header("vhlo"), "module @a {"])
    constant = [b'  %0 = stablehlo.constant dense<"0x', *[b"0F" * 1_000_000] * 20, b'"> : tensor<1xbf16>\n']
    after = as_bytes(["}", f'#loc = loc("{MODEL}:12")', END, *compiling(Compiled())])
    part = read(matcher, before, *constant, after)
    assert (part.graphs, part.graph_list[0].location) == (2, f"{MODEL}:12")


def test_memory_does_not_grow_with_the_log(matcher: Matcher) -> None:
    block = as_bytes([stage_header("shlo")]) + big_module(2_000_000) + as_bytes([END])
    reader = tt_xla.open_reader(Input(log="run.log", matcher=matcher))
    reader.feed(as_bytes([stage_header("vhlo"), END]) + block)
    tracemalloc.start()
    for _ in range(30):
        reader.feed(block)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert reader.finish().graphs == 1
    assert peak < 5 * len(block)
