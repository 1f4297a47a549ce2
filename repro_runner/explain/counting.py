"""Count how often compiled code reaches its break, with a counter in the code itself, after the call of its graph.

Dynamo's code for a frame that breaks is one path: call the graph, run in Python what broke, call the rest. A counter
between the graph and the break counts the breaks, and does not count calls whose graph raised. It costs about 10 ns.
"""

from __future__ import annotations

import dis
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, NamedTuple

from repro_runner.torch_seams import bytecode_transformation

_LINE_UNKNOWN, _LINE_ONLY = 15, 13
"""Two forms of an entry in co_linetable (Objects/locations.md of CPython). An entry covers up to 8 code units."""
_GRAPH = "__compiled_fn"
"""The names of the graphs that Dynamo's code calls start with this."""
_AT_THE_BEGINNING = ("RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "NOP")
"""Instructions that must stay at the start of the code."""


class Instruction(NamedTuple):
    """One instruction with its whole argument; `argval` is the name that a LOAD_GLOBAL loads."""

    offset: int
    """Where the instruction starts, including the EXTENDED_ARG instructions before it."""
    opcode: int
    opname: str
    arg: int
    argval: str


def read_instructions(code: CodeType) -> Iterator[Instruction]:
    """Yield the instructions without the caches between them. `dis` is slower: it also describes every constant."""
    raw, extended, begun = code.co_code, 0, 0
    shift = int(sys.version_info >= (3, 11))  # the lowest bit means that a null is loaded, too
    for offset in range(0, len(raw), 2):
        opname, arg = dis.opname[raw[offset]], raw[offset + 1] | extended
        if opname == "EXTENDED_ARG":
            extended = arg << 8
            continue
        if opname != "CACHE":
            name = code.co_names[arg >> shift] if opname == "LOAD_GLOBAL" else ""
            yield Instruction(begun, raw[offset], opname, arg, name)
        extended, begun = 0, offset + 2


def spliced(code: CodeType, offset: int, instructions: Iterable[Any], constant: Any) -> CodeType | None:
    """The code with these instructions inserted before `offset`. Each inserted LOAD_CONST loads `constant`.

    None if other parts of the code would have to change: exception handlers, jumps across `offset`, Python 3.10.
    """
    index = len(code.co_consts)
    if sys.version_info < (3, 11) or code.co_exceptiontable or index > 255 or _is_jumped_over(code, offset):
        return None
    inserted = b"".join(_assembled(one, index) for one in instructions)
    return code.replace(
        co_code=code.co_code[:offset] + inserted + code.co_code[offset:],
        co_consts=(*code.co_consts, constant),
        co_linetable=_with_gap(code.co_linetable, offset // 2, len(inserted) // 2),
        co_stacksize=code.co_stacksize + 3,
    )


def _assembled(instruction: Any, constant: int) -> bytes:
    """The bytes of an instruction, with the empty caches that the interpreter expects after it."""
    argument = constant if instruction.opname == "LOAD_CONST" else instruction.arg or 0
    return bytes((instruction.opcode, argument)) + bytes(bytecode_transformation.instruction_size(instruction) - 2)


def _is_jumped_over(code: CodeType, offset: int) -> bool:
    """Whether a jump crosses `offset`. Jumps are relative, so all other jumps stay correct."""
    raw = code.co_code
    before = any(raw[at] in dis.hasjrel for at in range(0, offset, 2))
    back = any("BACKWARD" in dis.opname[raw[at]] for at in range(offset, len(raw), 2))
    return before or (back and offset > 0)


def _with_gap(table: bytes, at: int, units: int) -> bytes:
    """The line table with `units` code units without a line inserted before the unit `at`."""
    gap = b"".join(_table_entry(_LINE_UNKNOWN, min(8, units - start)) for start in range(0, units, 8))
    begun = start = 0
    while start < len(table):
        size = (table[start] & 7) + 1
        end = next((index for index in range(start + 1, len(table)) if table[index] & 0x80), len(table))
        if begun + size > at:
            return table[:start] + _split_entry(table[start:end], at - begun, size, gap) + table[end:]
        begun, start = begun + size, end
    return table + gap


def _split_entry(entry: bytes, before: int, size: int, gap: bytes) -> bytes:
    """Split an entry in two, with the gap between them. Both parts have the same line."""
    if before == 0:
        return gap + entry
    form, rest = entry[0] >> 3 & 15, size - before
    after = _table_entry(form, rest) if form == _LINE_UNKNOWN else _table_entry(_LINE_ONLY, rest) + b"\0"
    return _table_entry(form, before) + entry[1:] + gap + after


def _table_entry(form: int, size: int) -> bytes:
    return bytes((0x80 | form << 3 | size - 1,))


class Tally:
    """A counter for compiled code. It is safe with threads, because itertools.count is one C call."""

    def __init__(self) -> None:
        self._count = itertools.count()
        self._reads = 0
        self.turn: Callable[[], int] = self._count.__next__

    def read(self) -> int:
        """How often `turn` was called. Reading counts, too, and is taken off."""
        self._reads += 1
        return next(self._count) - self._reads + 1


def with_counter(code: CodeType, tally: Tally) -> CodeType | None:
    """The code with calls of the tally; None if no place in it is certain to run before the break."""
    place = _counter_place(read_instructions(code))
    if place is None:
        return None
    try:
        turning = _counter_instructions(tally)
        return spliced(code, place[1].offset, turning, tally.turn) or _transformed(code, turning)
    except (AttributeError, TypeError):  # these functions are private to torch, and differ between releases
        return None


def _counter_instructions(tally: Tally) -> list[Any]:
    load = bytecode_transformation.create_load_const(tally.turn, checked=False)
    call = bytecode_transformation.create_call_function(0, push_null=False)
    drop = bytecode_transformation.create_instruction("POP_TOP")
    return [*bytecode_transformation.add_push_null(load), *call, drop]


def _transformed(code: CodeType, turning: list[Any]) -> CodeType:
    """Insert the instructions with torch's own function. It works for any code, but takes some milliseconds."""

    def insert(instructions: list[Any], _options: dict[str, Any]) -> None:
        place = _counter_place(instructions)
        if place is not None:
            instructions[place[0] : place[0]] = turning

    changed: Any = bytecode_transformation.transform_code_object(code, insert)
    # Before torch 2.9 the function returned only the new code.
    new_code: CodeType = changed[0] if isinstance(changed, tuple) else changed
    return new_code


def _counter_place(instructions: Iterable[Any]) -> tuple[int, Any] | None:
    """(index, instruction) after the call of the graph, or at the start if there is no graph; None if not certain.

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
            # A call needs a null below its function. It is loaded by PUSH_NULL or together with the function.
            depth = int(previous == "PUSH_NULL")
        if depth is not None:
            if one.opcode in dis.hasjrel:
                return None
            argument = (one.arg or 0) if one.opcode >= dis.HAVE_ARGUMENT else None
            depth += dis.stack_effect(one.opcode, argument, jump=False)
            called = one.opname.startswith("CALL") and depth == 1
        previous = one.opname
    return first if depth is None else None
