"""What explain sees of a program: every site, its ids, how often it ran and what it cost."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import linecache
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch._dynamo import convert_frame, exc, resume_execution, symbolic_convert, utils

from registry.ids import linked_ids
from repro_runner.capture import capture_breaks
from repro_runner.explain import Report, Site, explain
from repro_runner.explain.find_sites import FAILED, PAST_LIMIT, in_order
from repro_runner.explain.render.formats import read_answers
from repro_runner.explain.render.sentences import happened, raises
from repro_runner.explain.render.view import find_advice
from repro_runner.explain.site import ONE_GRAPH, Program

pytestmark = pytest.mark.torch

Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def watched(function: Function, *calls: tuple[Any, ...], **options: Any) -> Report:
    with explain() as report:
        compiled = torch.compile(function, **{"backend": "eager", **options})
        for arguments in calls:
            compiled(*arguments)
    return report


def only(report: Report) -> Site:
    (site,) = report
    return site


@contextlib.contextmanager
def logged_places() -> Iterator[set[tuple[str, int, str]]]:
    """File, line and id of every break that torch's own log tells of: the independent reading."""
    found: set[tuple[str, int, str]] = set()

    class Reader(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            place = re.search(r"in user code at (.+):(\d+)\n", text)
            if place:
                found.update((place[1], int(place[2]), gb_id) for gb_id in linked_ids(text))

    logger = logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks")
    before = logger.level, logger.propagate, list(logger.handlers)
    logger.setLevel(logging.DEBUG)
    logger.propagate, logger.handlers = False, [Reader()]
    try:
        yield found
    finally:
        logger.setLevel(before[0])
        logger.propagate, logger.handlers = before[1], before[2]


def places(report: Report) -> set[tuple[str, int, str]]:
    return {(site.file, site.line, gb_id) for site in report for gb_id in site.gb_ids}


def leaf(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


def middle(x: torch.Tensor) -> torch.Tensor:
    return leaf(x) * 2


def outer(x: torch.Tensor) -> torch.Tensor:
    return middle(x) + 1


def looping(x: torch.Tensor) -> torch.Tensor:
    for _ in range(2):
        x = leaf(x)
    return x


def loop_of_its_own(x: torch.Tensor) -> torch.Tensor:
    for _ in range(2):
        torch._dynamo.graph_break()
    return x + 1


def in_with(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = x + 1
        torch._dynamo.graph_break()
        y = y * 2
    return y - 1


def branch(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x + 1
    return x - 1


def two_in_one_line(x: torch.Tensor) -> torch.Tensor:
    print() if x.shape[0] == 3 else torch._dynamo.graph_break()
    return x + 1


def test_a_break_is_not_said_to_surface_as_what_only_another_one_surfaced_as() -> None:
    with capture_breaks() as breaks:
        torch.compile(loop_of_its_own, backend="eager")(torch.ones(2))
        torch.compile(leaf, backend="eager")(torch.ones(2))
    found = {(one.stack[-1].function, one.gb_id, one.kind, one.surfaced_as) for one in breaks}
    assert found == {
        ("loop_of_its_own", "GB0025", "frame skipped", "GB7000"),
        ("loop_of_its_own", "GB7000", "frame skipped", ""),
        ("leaf", "GB0025", "resumed", ""),
    }


# Counting


@pytest.mark.parametrize(
    ("function", "ran", "compiled"),
    [(leaf, 4, 1), (middle, 4, 2), (outer, 4, 3), (looping, 8, 2), (in_with, 4, 1)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_break_is_counted_once_however_many_frames_were_compiled_around_it(
    function: Function, ran: int, compiled: int
) -> None:
    site = only(watched(function, *[(torch.ones(3),)] * 4))
    assert (site.frequency.ran, site.compiled) == (ran, compiled)


def test_where_breaks_nest_the_enclosing_frame_is_counted() -> None:
    with torch._dynamo.config.patch(nested_graph_breaks=True):
        site = only(watched(outer, *[(torch.ones(3),)] * 4))
    assert (site.frequency.ran, site.compiled) == (4, 1)


def test_recompiles_add_up() -> None:
    site = only(watched(leaf, *[(torch.ones(size),) for size in (2, 3, 3, 4, 2)], dynamic=False))
    assert (site.frequency.ran, site.compiled) == (5, 3)
    assert {one.guard for one in site.recompiles if one.compile_id == "0/1"} == {
        "tensor 'x' size mismatch at index 0. expected 2, actual 3"
    }


def test_the_order_of_sites_does_not_depend_on_times() -> None:
    sites = [Site(gb_ids=("GB0025",), gb_types=("t",), file="a.py", line=n, compiled=1 + n % 2) for n in range(6)]
    slow = [replace(one, lost_seconds=one.line * 1.0) for one in sites]
    assert [one.line for one in in_order(sites)] == [one.line for one in in_order(slow)] == [1, 3, 5, 0, 2, 4]


def test_counts_survive_a_reset_after_which_compile_ids_repeat() -> None:
    with explain() as report:
        for _ in range(3):
            torch.compile(leaf, backend="eager")(torch.ones(2))
            torch._dynamo.reset()
    site = only(report)
    assert (site.frequency.ran, site.compiled, site.compile_ids) == (3, 3, ("0/0",))


def test_a_call_whose_graph_raised_never_got_to_the_break() -> None:
    def pick(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        y = x[index]
        torch._dynamo.graph_break()
        return y + 1

    with explain() as report:
        compiled = torch.compile(pick, backend="eager")
        compiled(torch.ones(3), torch.tensor([0]))
        with pytest.raises(IndexError):
            compiled(torch.ones(3), torch.tensor([9]))
    assert only(report).frequency.ran == 1


def test_both_ways_out_of_a_branch_are_one_site() -> None:
    site = only(watched(branch, (torch.ones(3),), (-torch.ones(3),), (torch.ones(3),)))
    assert (site.gb_ids, site.frequency.ran) == (("GB0170",), 3)


def test_two_breaks_of_one_line_are_two_sites() -> None:
    report = watched(two_in_one_line, *[(torch.ones(size),) for size in (3, 4, 4)], dynamic=False)
    assert {(site.gb_ids, site.frequency.ran) for site in report} == {(("GB0059",), 1), (("GB0025",), 2)}
    assert len({site.line for site in report}) == 1
    if sys.version_info >= (3, 11):
        line = linecache.getline(__file__, report.sites[0].line)
        broken = {line[start:end] for site in report for start, end in site.columns}
        assert broken == {"print()", "torch._dynamo.graph_break()"}


def test_threads_at_once_are_counted_exactly() -> None:
    with explain() as report:
        compiled = torch.compile(leaf, backend="eager")
        threads = [threading.Thread(target=lambda: [compiled(torch.ones(2)) for _ in range(100)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert only(report).frequency.ran == 400


def test_past_the_recompile_limit_nobody_counts_and_the_limit_is_a_site_of_its_own() -> None:
    def grow(x: torch.Tensor, by: int) -> torch.Tensor:
        y = x + by
        torch._dynamo.graph_break()
        return y

    with torch._dynamo.config.patch(recompile_limit=2):
        report = watched(grow, *[(torch.ones(2), by) for by in range(1, 5)], dynamic=False)
    by_id = {site.gb_ids[0]: site for site in report}
    assert by_id["GB0025"].frequency.why_unknown == PAST_LIMIT
    limit = by_id["GB0039"]
    assert (limit.function, limit.kind, limit.line) == ("grow", "frame skipped", grow.__code__.co_firstlineno)
    assert limit.source == "def grow(x: torch.Tensor, by: int) -> torch.Tensor:"


class Counting(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        return x * self.steps


def by_mode(x: torch.Tensor, mode: str) -> torch.Tensor:
    return x + len(mode)


@pytest.mark.parametrize(
    ("function", "calls", "told"),
    [
        (Counting(), [(torch.ones(2),)] * 4, "allow_unspec_int_on_nn_module"),
        (by_mode, [(torch.ones(2), "m" * length) for length in range(4)], "this string"),
        (branch, [(torch.ones(size),) for size in range(2, 6)], "dynamic=True"),
    ],
    ids=["module int", "string", "size"],
)
def test_at_the_recompile_limit_the_guards_decide_the_advice_in_a_report_and_in_a_log(
    function: Function, calls: list[tuple[Any, ...]], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    logging.getLogger("torch._dynamo").propagate = True
    with torch._dynamo.config.patch(recompile_limit=2):
        report = watched(function, *calls, dynamic=False)
    limit = next(one for one in report if one.past_limit)
    warned = next(record.getMessage() for record in caplog.records if "recompile_limit" in record.getMessage())
    (answer,) = find_advice(limit, read_answers(), torch="2.13.0")
    logged = read_answers().advise("GB0039", torch="2.13.0", message=warned)
    assert logged is not None
    assert answer.counsels == logged.counsels
    assert told in " ".join(one.text for one in answer.counsels)
    assert "TORCH_LOGS=recompiles" not in report.text()


def test_a_generator_is_a_site_when_it_was_to_be_compiled_and_not_when_python_code_meets_it() -> None:
    def numbers(x: torch.Tensor) -> Iterator[torch.Tensor]:
        yield x + 1

    with explain() as report:
        list(torch.compile(numbers, backend="eager")(torch.ones(2)))
    assert (only(report).gb_ids, only(report).line) == (("GB0003",), numbers.__code__.co_firstlineno)


# What is compiled, and how


def test_a_compiled_module_that_learns_has_its_backward_graphs_in_the_time() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return leaf(self.linear(x))

    net = Net()
    net.compile(backend="aot_eager")
    with explain() as report:
        for _ in range(2):
            net(torch.ones(2, 3)).sum().backward()
    assert only(report).frequency.ran == 2
    assert report.totals.graphs == 3
    recorded = sum(one.entire_frame_compile_time_s or 0 for one in utils.get_compilation_metrics()[-6:])
    assert report.totals.compile_seconds > recorded > 0


def in_cond(x: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, leaf, lambda x: x - 1, (x,))


@pytest.mark.parametrize(("function", "fullgraph", "why"), [(leaf, True, ONE_GRAPH), (in_cond, False, FAILED)])
def test_a_break_that_stops_the_program_is_fatal_and_only_fullgraph_leads_to_no_fullgraph(
    function: Function, fullgraph: bool, why: str
) -> None:
    with pytest.raises((exc.Unsupported, exc.UncapturedHigherOrderOpError)), explain() as report:
        torch.compile(function, backend="eager", fullgraph=fullgraph)(torch.ones(2))
    site = only(report)
    assert (site.kind, site.frequency.ran, site.frequency.why_unknown) == ("fatal", None, why)
    report.program = Program(name="train.py")
    assert ("--no-fullgraph" in report.text()) == fullgraph


def test_what_was_to_be_resumed_is_fatal_when_the_rest_can_not_be_made() -> None:
    async def waits(x: torch.Tensor) -> torch.Tensor:
        await asyncio.sleep(0)
        return x + 1

    with pytest.raises(AssertionError, match="resume function"), explain() as report:
        asyncio.run(torch.compile(waits, backend="eager")(torch.ones(2)))
    assert {site.gb_type for site in report} == {
        "Missing bytecode handler",
        "AssertionError: Cannot generate resume function for generator, coroutine, or async generator",
    }
    for site in report:
        assert (site.kind, site.frequency.ran, site.frequency.why_unknown) == ("fatal", None, FAILED)


@pytest.mark.parametrize(
    "function", [leaf, outer, looping, in_with, branch, two_in_one_line], ids=lambda one: one.__name__
)
def test_the_log_of_torch_tells_of_the_same_ids_at_the_same_lines(function: Function) -> None:
    with logged_places() as logged:
        report = watched(function, (torch.ones(3),), (torch.ones(4),), dynamic=False)
    assert places(report) == logged
    assert logged


@pytest.mark.parametrize("function", [outer, looping, branch, in_with], ids=lambda one: one.__name__)
def test_graphs_and_ops_are_those_that_the_backend_was_given(function: Function) -> None:
    given: list[int] = []

    def backend(module: torch.fx.GraphModule, _inputs: Any) -> Function:
        given.append(sum(node.op.startswith("call_") for node in module.graph.nodes))
        return module.forward

    totals = watched(function, (torch.ones(3),), (-torch.ones(4),), dynamic=False, backend=backend).totals
    assert (totals.graphs, totals.ops) == (len(given), sum(given))


# Being there, and gone


def wrapped() -> list[object]:
    return [
        exc.format_graph_break_message,
        vars(exc.Unsupported)["__init__"],
        vars(convert_frame.ConvertFrame)["__call__"],
        vars(convert_frame.ConvertFrameAssert)["__call__"],
        vars(symbolic_convert.InstructionTranslatorBase)["log_graph_break"],
        vars(utils.CompilationMetrics)["create"],
        vars(resume_execution.ContinueExecutionCache)["lookup"],
        dict(convert_frame._bytecode_hooks),
    ]


def test_everything_is_put_back_also_after_an_exception_and_blocks_nest() -> None:
    before = wrapped()
    with pytest.raises(KeyError), explain() as outer_report:
        compiled = torch.compile(leaf, backend="eager")
        with explain() as inner_report:
            compiled(torch.ones(2))
        compiled(torch.ones(2))
        raise KeyError
    assert wrapped() == before
    assert only(inner_report).frequency.ran == 1
    assert only(outer_report).frequency.ran == 2


def test_code_compiled_before_the_block_is_not_in_its_report() -> None:
    compiled = torch.compile(leaf, backend="eager")
    compiled(torch.ones(2))
    with explain() as report:
        compiled(torch.ones(2))
    assert (len(report), report.totals.compilations) == (0, 0)


def test_results_are_those_of_an_unwatched_run() -> None:
    x = torch.randn(5)
    with explain():
        compiled = torch.compile(in_with, backend="eager")
        assert torch.equal(compiled(x), in_with(x))
    assert torch.equal(compiled(x), in_with(x))


def given_up(x: torch.Tensor) -> torch.Tensor:
    for _ in range(2):
        print("in a loop")
        x = leaf(x)
    return x.sin()


def test_what_follows_from_a_function_that_was_given_up_stands_below_it() -> None:
    report = watched(given_up, (torch.ones(3),))
    first, *others = report.sites
    assert (first.gb_ids[-1], first.kind, first.function) == ("GB7000", "frame skipped", "given_up")
    lines, start = inspect.getsourcelines(given_up)
    assert first.untraced == (first.line + 1, start + len(lines) - 1)
    assert [(one.function, one.follows) for one in others] == [("leaf", first.where)] * len(others)
    assert others
    text = report.text()
    assert "were never traced, and may have breaks of their own" in text
    assert "it follows from" in text


def test_compilations_that_end_in_different_ways_are_counted_apart() -> None:
    def sometimes(x: torch.Tensor, loop: bool) -> torch.Tensor:
        for _ in range(2) if loop else ():
            x = branch_inside(x)
        return x if loop else branch_inside(x)

    def branch_inside(x: torch.Tensor) -> torch.Tensor:
        print("here")
        return x + 1

    report = watched(sometimes, (torch.ones(3), False), (torch.ones(3), True), dynamic=False)
    site = next(one for one in report if one.function == "branch_inside")
    assert site.kind == "frame skipped"
    assert set(site.kinds) == {"resumed", "frame skipped"}
    assert sum(site.kinds.values()) == site.compiled
    assert "in 2 compilations the graph ends here" in happened(site)


@pytest.mark.parametrize(
    ("context", "told"),
    [
        (
            "raised exception TypeError(\"'NoneType' object is not subscriptable\")",
            "TypeError: 'NoneType' object is not subscriptable",
        ),
        ("raised exception ValueError('a', 3)", "ValueError: 'a', 3"),
        ("raised exception KeyError()", "KeyError"),
        ("call_method x", ""),
    ],
)
def test_an_exception_of_the_program_is_told_as_python_tells_it(context: str, told: str) -> None:
    assert raises(Site(gb_ids=("GB0088",), gb_types=("Observed exception",), context=context)) == told
