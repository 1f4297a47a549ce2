"""Count how often compiled code gets to its break: a counter in the code itself, after its graph was called.

Dynamo's code for a frame that breaks is one path: call the graph, do in Python what broke, call the rest. So a counter
between the graph and the break counts the break, in some ten nanoseconds, and not a call whose graph raised.
"""

from __future__ import annotations

import dis
import itertools
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

from torch._dynamo import bytecode_transformation

from repro_runner.explain.splicing import read_instructions, spliced

_GRAPH = "__compiled_fn"
"""How Dynamo names the graphs that its code calls."""

_AT_THE_BEGINNING = ("RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "NOP")
"""What has to stay at the very beginning of some code."""


class Tally:
    """A counter that compiled code can turn, from any number of threads at once: itertools.count is one C call."""

    def __init__(self) -> None:
        self._count = itertools.count()
        self.turn: Callable[[], int] = self._count.__next__

    def read(self) -> int:
        """How often it was turned; to be read once."""
        return next(self._count)


def counted(code: CodeType, tally: Tally) -> CodeType | None:
    """The same code with the tally in it; None where no place is sure to be on the way to the break."""
    place = _place(read_instructions(code))
    if place is None:
        return None
    try:
        turning = _turning(tally)
        return spliced(code, place[1].offset, turning, tally.turn) or _transformed(code, turning)
    except (AttributeError, TypeError):  # private to torch, and other in other releases
        return None


def _turning(tally: Tally) -> list[Any]:
    load = bytecode_transformation.create_load_const(tally.turn, checked=False)
    call = bytecode_transformation.create_call_function(0, push_null=False)
    drop = bytecode_transformation.create_instruction("POP_TOP")
    return [*bytecode_transformation.add_push_null(load), *call, drop]


def _transformed(code: CodeType, turning: list[Any]) -> CodeType:
    """As torch itself changes code: for any code, and some milliseconds."""

    def insert(instructions: list[Any], _options: dict[str, Any]) -> None:
        place = _place(instructions)
        if place is not None:
            instructions[place[0] : place[0]] = turning

    changed: Any = bytecode_transformation.transform_code_object(code, insert)
    # Before torch 2.9 the new code came alone.
    new_code: CodeType = changed[0] if isinstance(changed, tuple) else changed
    return new_code


def _place(instructions: Iterable[Any]) -> tuple[int, Any] | None:
    """After the call of the graph; at the beginning where there is no graph.

    The graph has been called when the stack holds one value more than before its function was loaded.
    """
    first = depth = None
    called, previous = False, ""
    for index, one in enumerate(instructions):
        if called:
            return index, one
        if first is None and one.opname not in _AT_THE_BEGINNING:
            first = index, one
        if depth is None and one.opname == "LOAD_GLOBAL" and str(one.argval).startswith(_GRAPH):
            # A call takes a null below its function, which is loaded apart or by the same instruction.
            depth = int(previous == "PUSH_NULL")
        if depth is not None:
            if one.opcode in dis.hasjrel:
                return None
            argument = (one.arg or 0) if one.opcode >= dis.HAVE_ARGUMENT else None
            depth += dis.stack_effect(one.opcode, argument, jump=False)
            called = one.opname.startswith("CALL") and depth == 1
        previous = one.opname
    return first if depth is None else None
