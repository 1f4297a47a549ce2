"""Run what asks for one whole graph with breaks allowed: all of them are seen then, and not only the first."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch._dynamo import decorators, eval_frame
from torch._dynamo.variables import ctx_manager

from repro_runner.torch_seams import wrap


@contextmanager
def breaks_allowed() -> Iterator[None]:
    """`fullgraph=True`, `nopython=True` and `error_on_graph_break(True)` have no effect on what is made inside.

    Dynamo traces some things only where breaks are errors: `.item()` breaks here, and does not with `fullgraph=True`.
    """
    with ExitStack() as undo:
        for owner in (torch._dynamo, eval_frame):
            wrap(undo, owner, "optimize", _around_optimize)
        # What Dynamo calls, and what it traces in its place; not in all releases.
        for owner, name in (
            (decorators, "ErrorOnGraphBreakDecoratorContextManager"),
            (ctx_manager, "ErrorOnGraphBreakVariable"),
        ):
            if hasattr(owner, name):
                wrap(undo, getattr(owner, name), "__init__", _around_init)
        yield


def _around_optimize(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def optimize(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("nopython", None)
        kwargs.pop("error_on_graph_break", None)
        return original(*args, **kwargs)

    return optimize


def _around_init(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(switch: Any, error_on_graph_break: bool, **kwargs: Any) -> None:  # noqa: ARG001
        original(switch, False, **kwargs)

    return init
