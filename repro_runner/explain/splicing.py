"""Put instructions into code that was compiled already, where that takes no more than moving what follows.

Torch can do it for any code, at a cost that is a good part of compiling a small frame.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any, NamedTuple

from torch._dynamo import bytecode_transformation

_LINE_UNKNOWN, _LINE_ONLY = 15, 13
"""Two of the forms of an entry of co_linetable (Objects/locations.md of CPython), which has up to 8 code units."""


class Instruction(NamedTuple):
    """One instruction with its whole argument; `argval` is the name that a LOAD_GLOBAL loads."""

    offset: int
    """Where it begins, with what extends its argument."""
    opcode: int
    opname: str
    arg: int
    argval: str


def read_instructions(code: CodeType) -> Iterator[Instruction]:
    """Those of the code, without the caches between them; `dis` would describe every constant, too."""
    raw, extended, begun = code.co_code, 0, 0
    shift = int(sys.version_info >= (3, 11))  # the lowest bit says whether a null is loaded, too
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
    """The code with these instructions before `offset`, where each LOAD_CONST loads `constant`.

    None where more would have to change: exception handlers, jumps past the place, code of Python 3.10.
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
    """With the empty caches that the interpreter expects after it."""
    argument = constant if instruction.opname == "LOAD_CONST" else instruction.arg or 0
    return bytes((instruction.opcode, argument)) + bytes(bytecode_transformation.instruction_size(instruction) - 2)


def _is_jumped_over(code: CodeType, offset: int) -> bool:
    """Whether a jump crosses the place; jumps are relative, so others stay right. At the beginning none does."""
    raw = code.co_code
    before = any(raw[at] in dis.hasjrel for at in range(0, offset, 2))
    back = any("BACKWARD" in dis.opname[raw[at]] for at in range(offset, len(raw), 2))
    return before or (back and offset > 0)


def _with_gap(table: bytes, at: int, units: int) -> bytes:
    """A line table with some code units of no line before the unit `at`."""
    gap = b"".join(_entry(_LINE_UNKNOWN, min(8, units - start)) for start in range(0, units, 8))
    begun = start = 0
    while start < len(table):
        size = (table[start] & 7) + 1
        end = next((index for index in range(start + 1, len(table)) if table[index] & 0x80), len(table))
        if begun + size > at:
            return table[:start] + _divided(table[start:end], at - begun, size, gap) + table[end:]
        begun, start = begun + size, end
    return table + gap


def _divided(entry: bytes, before: int, size: int, gap: bytes) -> bytes:
    """An entry with the gap inside: what comes after it is of the same line."""
    if before == 0:
        return gap + entry
    form = entry[0] >> 3 & 15
    after = _entry(form, size - before) if form == _LINE_UNKNOWN else _entry(_LINE_ONLY, size - before) + b"\0"
    return _entry(form, before) + entry[1:] + gap + after


def _entry(form: int, size: int) -> bytes:
    return bytes((0x80 | form << 3 | size - 1,))
