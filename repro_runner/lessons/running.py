"""Run the cells of a lesson in this process. It needs only what the lesson needs, and the standard library."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from registry.lessons import read_cells
from registry.model import Cell, CellOutput


def run_cells(path: Path, cells: Sequence[Cell]) -> Iterator[CellOutput]:
    """Yield the output of each cell of code. The cells share one module, and what a cell raises is raised."""
    module = ModuleType("__main__")
    module.__file__ = str(path)
    before = sys.modules["__main__"]
    sys.modules["__main__"] = module  # so that classes of the lesson can be found where they say they are
    try:
        for cell in cells:
            if cell.code:
                yield _run_cell(cell, path, module)
    finally:
        sys.modules["__main__"] = before


def _run_cell(cell: Cell, path: Path, module: ModuleType) -> CellOutput:
    """Run one cell. The value of its last expression is shown, if it has one."""
    statements, last = _compiled(cell, path)
    value: Any = None
    with _everything_printed() as printed:
        exec(statements, vars(module))
        if last is not None:
            value = eval(last, vars(module))
        picture = value._repr_svg_() if hasattr(value, "_repr_svg_") else ""
        if value is not None and not picture:
            print(value)
    return CellOutput(text="".join(printed), picture=picture)


def _compiled(cell: Cell, path: Path) -> tuple[CodeType, CodeType | None]:
    """The code of a cell, and that of its last expression. Lines are those of the file, so that messages name them."""
    tree = ast.parse(cell.code)
    ast.increment_lineno(tree, cell.line - 1)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    expression = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
    return compile(tree, path, "exec"), compile(expression, path, "eval") if expression else None


@contextlib.contextmanager
def _everything_printed() -> Iterator[list[str]]:
    """What is printed meanwhile: by this process, by its children, and by loggers, which keep their first stream."""
    printed: list[str] = []
    kept = [os.dup(number) for number in (1, 2)]
    with tempfile.TemporaryFile() as file, os.fdopen(os.dup(file.fileno()), "w", 1, "utf-8") as stream:
        _flush()
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
                yield printed
        finally:
            stream.flush()
            _flush()
            for number, original in zip((1, 2), kept, strict=True):
                os.dup2(original, number)
                os.close(original)
            file.seek(0)
            printed.append(file.read().decode("utf-8", "replace"))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def _main(name: str) -> None:
    """In a child: run a lesson or a notebook's text; the last line on standard output has what its cells printed."""
    path = Path(name)
    outputs = [asdict(one) for one in run_cells(path, list(read_cells(path.read_text("utf-8"))))]
    print(json.dumps(outputs))


if __name__ == "__main__":
    _main(sys.argv[1])
