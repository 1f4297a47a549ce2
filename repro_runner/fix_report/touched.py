"""Which lines of a program a patch touches, and what it says about them that no run reached."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from registry.dependencies import first_line
from repro_runner.fix_report.patch_rules import find_dodges
from repro_runner.fix_report.patches.source import read_source
from repro_runner.judge.reached import unreached


def touched_lines(before: str, after: str) -> tuple[set[int], set[int]]:
    """The lines of the text before that are removed or rewritten, and the new lines of the text after."""
    one, two = before.splitlines(), after.splitlines()
    old, new = set[int](), set[int]()
    for tag, start, end, new_start, new_end in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if tag != "equal":
            old.update(at + 1 for at in range(start, end) if one[at].strip())
            new.update(at + 1 for at in range(new_start, new_end) if two[at].strip())
    return old, new


def callers_change(changes: Mapping[str, str], before: Sequence[Sequence[Any]], after: Sequence[Sequence[Any]]) -> bool:
    """Whether a patch changes what follows a call of a compiled function, where it is called.

    The callers are (file, first line, line of the call).
    """
    for path, text in changes.items():
        old_text = read_source(Path(path)).text
        old, new = touched_lines(old_text, text)
        file = os.path.abspath(path)  # noqa: PTH100 - the name under which Python runs it
        for lines, source, callers in ((old, old_text, before), (new, text, after)):
            functions = _functions(source)
            calls = {(first, call) for name, first, call in callers if name == file}
            if any(_follows(line, functions, calls) for line in lines):
                return True
    return False


def leaves_to_python(changes: Mapping[str, str]) -> bool:
    """Whether a patch turns compilation off for something."""
    return any(find_dodges(read_source(Path(path)).text, text) for path, text in changes.items())


def _functions(text: str) -> list[tuple[int, int]]:
    """(first line, last line) of each function and class. The first decorator is the first line."""
    nodes = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    return [(first_line(node), node.end_lineno or node.lineno) for node in nodes]


def _follows(line: int, functions: list[tuple[int, int]], calls: set[tuple[int, int]]) -> bool:
    """Whether a line is at or after the first call in the function that it is in, or in the module itself."""
    inner = max((first for first, last in functions if first <= line <= last), default=0)
    starts = {first for first, _ in functions}
    own = [call for first, call in calls if (first == inner if inner else first not in starts)]
    return bool(own) and line >= min(own)


def never_reached(
    changes: Mapping[str, tuple[str, str]], old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[str]:
    """The parts that a patch removes, rewrites or adds, and that no run reached.

    `old` and `new` have the positions that were reached before and after, by file.
    """
    for path, (before, after) in changes.items():
        file = os.path.abspath(path)  # noqa: PTH100 - the name under which Python runs it
        name = f"{Path(path).name}:" if len(changes) > 1 else "line "
        removed, added = touched_lines(before, after)
        yield from (f"{name}{one}" for one in _unreached(before, old.get(file, ()), removed, after))
        yield from (f"{name}{one} (new)" for one in _unreached(after, new.get(file, ()), added, before))


def _unreached(text: str, positions: Iterable[Any], lines: set[int], other: str) -> Iterator[str]:
    kept = {line.strip() for line in other.splitlines()}
    for one in unreached(text, {tuple(each) for each in positions}):
        if lines.intersection(range(one.line, one.last + 1)) and one.text not in kept:
            yield f"{one.line}: {one.text}"
