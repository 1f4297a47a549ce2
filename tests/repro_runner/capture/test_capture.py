"""Every break is named, with what became of it; and everything that was wrapped is put back."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo import convert_frame, exc, symbolic_convert

from repro_runner.capture import CapturedBreak, capture_breaks
from repro_runner.capture.from_text import logged_ids, unnamed

pytestmark = pytest.mark.torch


def branch(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x + 1
    return x - 1


def item(x: torch.Tensor) -> torch.Tensor:
    return x + x.sum().item()


def printed(x: torch.Tensor) -> torch.Tensor:
    print("tracing")
    return x + 1


def loop(x: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = x + 1
        torch._dynamo.graph_break()
    return x


def cond_with_mutation(x: torch.Tensor) -> torch.Tensor:
    def grow(y: torch.Tensor) -> torch.Tensor:
        return y.add_(1)

    return torch.cond(x.sum() > 0, grow, grow, (x,))  # type: ignore[no-any-return]


PROGRAMS: list[tuple[Callable[..., Any], list[tuple[str, str]], list[tuple[str, str]]]] = [
    (branch, [("GB0170", "resumed")], [("GB0170", "fatal")]),
    (item, [("GB0124", "resumed")], []),
    (printed, [("GB0059", "resumed")], [("GB0059", "fatal")]),
    (loop, [("GB0025", "frame skipped"), ("GB7000", "frame skipped")], [("GB0025", "fatal")]),
]


def run(program: Callable[..., Any], *, fullgraph: bool) -> list[CapturedBreak]:
    torch._dynamo.reset()
    with capture_breaks() as breaks:
        try:
            torch.compile(program, backend="eager", fullgraph=fullgraph)(torch.ones(4))
        except exc.Unsupported:
            assert fullgraph
    return breaks


@pytest.mark.parametrize(("program", "resumed", "strict"), PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_break_has_its_id_and_what_became_of_it(
    program: Callable[..., Any], resumed: list[tuple[str, str]], strict: list[tuple[str, str]]
) -> None:
    for fullgraph, expected in ((False, resumed), (True, strict)):
        happened = [one for one in run(program, fullgraph=fullgraph) if one.happened]
        assert [(one.gb_id, one.kind) for one in happened] == expected


def test_a_break_has_its_parts_its_place_and_its_compilation() -> None:
    (found,) = [one for one in run(branch, fullgraph=False) if one.happened]
    assert found.gb_type == "Data-dependent branching"
    assert found.context.startswith("attempted to jump with ")
    assert found.explanation.startswith("Detected data-dependent branching")
    assert "Use `torch.cond` to express dynamic control flow." in found.hints
    assert (found.stack[-1].function, found.stack[-1].source) == ("branch", "if x.sum() > 0:")
    assert found.stack[-1].line == branch.__code__.co_firstlineno + 1
    assert found.compile_id == "0/0"


def test_a_break_that_surfaced_as_another_one_says_so() -> None:
    found = {one.gb_id: (one.kind, one.surfaced_as) for one in run(loop, fullgraph=False)}
    assert found == {"GB0025": ("frame skipped", "GB7000"), "GB7000": ("frame skipped", "")}


def test_a_break_inside_a_higher_order_operator_is_fatal_though_breaks_are_allowed() -> None:
    torch._dynamo.reset()
    with capture_breaks() as breaks, pytest.raises(exc.UncapturedHigherOrderOpError):
        torch.compile(cond_with_mutation, backend="eager")(torch.ones(4))
    assert "fatal" in {one.kind for one in breaks}


def test_the_same_break_again_is_counted() -> None:
    torch._dynamo.reset()
    with capture_breaks() as breaks:
        for size in (3, 4):
            torch.compile(branch, backend="eager", dynamic=False)(torch.ones(size))
    assert sum(one.count for one in breaks if one.gb_id == "GB0170") == 2


def wrapped() -> list[object]:
    return [
        exc.format_graph_break_message,
        exc.Unsupported.__init__,
        convert_frame.ConvertFrame.__call__,
        convert_frame.ConvertFrameAssert.__call__,
        symbolic_convert.InstructionTranslatorBase.log_graph_break,
    ]


def test_everything_is_put_back_also_after_an_exception_and_captures_nest() -> None:
    before = wrapped()
    torch._dynamo.reset()
    with pytest.raises(KeyError), capture_breaks() as outer:
        with capture_breaks() as inner:
            torch.compile(branch, backend="eager")(torch.ones(4))
        torch._dynamo.reset()
        torch.compile(printed, backend="eager")(torch.ones(4))
        raise KeyError
    assert wrapped() == before
    assert [one.gb_id for one in inner] == ["GB0170"]
    assert [one.gb_id for one in outer] == ["GB0170", "GB0059"]


def test_a_type_that_this_torch_does_not_register_gets_the_id_it_has_elsewhere_or_a_local_one() -> None:
    from repro_runner.capture.identify import Identifier

    identifier = Identifier({"An old wording": "GB0042"})
    assert identifier.gb_id("An old wording", "") == "GB0042"
    assert identifier.gb_id("Attempted to guard on uninitialized nn.Module", "") == "GBL-5483AC"
    assert identifier.gb_id("unknown", "… visit: https://example.invalid/gb/gb0033.html") == "GB0033"


@pytest.mark.parametrize("program", [branch, item, printed, loop], ids=lambda program: program.__name__)
def test_the_log_names_the_same_ids(program: Callable[..., Any]) -> None:
    with logged_ids() as in_log:
        breaks = run(program, fullgraph=False)
    assert in_log
    assert in_log == {one.gb_id for one in breaks}


def test_the_log_is_as_it_was_afterwards() -> None:
    logger = logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks")
    before = (logger.level, logger.propagate, list(logger.handlers))
    with logged_ids():
        assert (logger.level, logger.propagate, list(logger.handlers)) != before
    assert (logger.level, logger.propagate, list(logger.handlers)) == before


def test_what_the_capture_did_not_see_is_said() -> None:
    assert unnamed({"GB0001", "GB0002"}, {"GB0001"}).endswith("names GB0002, which the capture did not see")
    assert unnamed({"GB0001"}, {"GB0001", "GB0002"}) == ""


def test_a_fatal_break_is_fatal_for_every_capture_around_it() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x + 1

    with capture_breaks() as outer, pytest.raises(torch._dynamo.exc.Unsupported), capture_breaks() as inner:
        torch.compile(broken, backend="eager", fullgraph=True)(torch.ones(2))
    assert [one.kind for one in outer] == [one.kind for one in inner] == ["fatal"]
