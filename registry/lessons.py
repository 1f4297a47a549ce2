"""Lessons: the programs in `examples/`, and what they printed, in `registry/lessons/`.

A lesson is a Python program in cells, as editors and jupytext know them: `# %%` starts a cell of code,
`# %% [markdown]` one of text. Its docstring has the title, the lead, and what it explains.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from registry.datafile import read_data_file, shown
from registry.errors import InvalidInput, Problem
from registry.model import Cell, CellOutput, Lesson, LessonRun
from registry.result_files import parse_environment, read_result_files

KIND = "lessons"
SCHEMA = 1
_MARK = "# %%"
_TEXT_MARK = "# %% [markdown]"
_NUMBERED = re.compile(r"[0-9]{2}_(.+)")
_EXPLAINS = "Explains: "
NOTEBOOK_RUN = "graph_break_registry"
"""Where a notebook's metadata say in which environment it was run, and which source."""


def read_lessons(examples: Path, records: Path) -> tuple[Lesson, ...]:
    """The lessons in the order of their numbers, each with its runs; every problem at once as InvalidInput."""
    runs = read_result_files(records, KIND, SCHEMA, _parse_runs)
    lessons: list[Lesson] = []
    problems: list[Problem] = []
    for path in sorted(examples.glob("[0-9][0-9]_*.py")):
        try:
            lesson = parse_lesson(path)
        except (SyntaxError, ValueError) as error:
            problems.append(Problem(f"{shown(path)}:{getattr(error, 'lineno', None) or 1}", str(error)))
            continue
        own = (one[lesson.name] for one in runs if lesson.name in one)
        lessons.append(_with_runs(lesson, own))
    if problems:
        raise InvalidInput(problems)
    return tuple(lessons)


def parse_lesson(path: Path) -> Lesson:
    """A lesson without its runs. Raises SyntaxError or ValueError if it is none."""
    source = read_data_file(path)
    docstring = ast.get_docstring(ast.parse(source))
    numbered = _NUMBERED.fullmatch(path.stem)
    if not docstring or not numbered:
        raise ValueError("needs a docstring, and a name such as 01_first_compilation.py")
    title, _, rest = docstring.partition("\n")
    lines = rest.strip().splitlines()
    explains = [line.removeprefix(_EXPLAINS) for line in lines if line.startswith(_EXPLAINS)]
    return Lesson(
        name=numbered[1],
        title=title.rstrip("."),
        lead=" ".join(line for line in lines if line and not line.startswith(_EXPLAINS)),
        explains=tuple(name.strip() for line in explains for name in line.split(",")),
        file=path.name,
        cells=tuple(read_cells(source)),
        sha256=source_digest(source),
    )


def read_cells(source: str) -> Iterator[Cell]:
    """The cells of a program, without what stands before the first."""
    lines = source.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(_MARK)]
    if not starts:
        raise ValueError("has no cells; `# %%` starts one")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        body = lines[start + 1 : end]
        if lines[start].rstrip() == _TEXT_MARK:
            yield Cell(text="\n".join(line.removeprefix("#").removeprefix(" ") for line in body).strip())
        elif code := "\n".join(body).strip("\n"):
            blank = next(number for number, line in enumerate(body) if line.strip())
            yield Cell(code=code, line=start + 2 + blank)


def source_digest(source: str) -> str:
    """The hash of the code and of its lines, which messages name. A run is shown while it stays the same."""
    code = [(cell.line, cell.code) for cell in read_cells(source) if cell.code]
    return hashlib.sha256(repr(code).encode("utf-8")).hexdigest()


def _with_runs(lesson: Lesson, runs: Iterator[LessonRun]) -> Lesson:
    """The lesson with the runs of this very code: on the CPU, which everybody has, before all others."""
    own = (run for run in runs if run.sha256 == lesson.sha256)
    return replace(lesson, runs=tuple(sorted(own, key=lambda run: run.environment.device != "cpu")))


def read_notebooks(folder: Path) -> tuple[Lesson, ...]:
    """The notebooks as lessons. The text file is the source, and the .ipynb beside it has the outputs."""
    return tuple(_read_notebook(path) for path in sorted(folder.glob("*.py")))


def _read_notebook(path: Path) -> Lesson:
    source = read_data_file(path)
    first, *cells = read_cells(source)
    title, _, lead = first.text.partition("\n")
    lesson = Lesson(
        name=f"notebook_{path.stem}",
        title=title.lstrip("# "),
        lead=" ".join(lead.split()),
        explains=(),
        file=path.with_suffix(".ipynb").name,
        cells=tuple(cells),
        sha256=source_digest(source),
    )
    executed = path.with_suffix(".ipynb")
    if not executed.exists():
        return lesson
    content = json.loads(read_data_file(executed))
    run = content["metadata"].get(NOTEBOOK_RUN, {"torch": "", "sha256": "", "device_name": ""})
    outputs = tuple(_notebook_output(cell["outputs"]) for cell in content["cells"] if cell["cell_type"] == "code")
    found = LessonRun(
        environment=parse_environment(run), sha256=run["sha256"], outputs=outputs, device_name=run["device_name"]
    )
    return _with_runs(lesson, iter([found]))


def _notebook_output(outputs: list[Mapping[str, Any]]) -> CellOutput:
    """What a cell printed and showed, in Jupyter's format."""
    printed = [_joined(one["text"]) for one in outputs if one["output_type"] == "stream"]
    shown = [one["data"] for one in outputs if "data" in one]
    pictures = [_joined(data["image/svg+xml"]) for data in shown if "image/svg+xml" in data]
    texts = [_joined(data["text/plain"]) for data in shown if "image/svg+xml" not in data and "text/plain" in data]
    return CellOutput(text="\n".join(("".join(printed), *texts)).strip("\n"), picture="".join(pictures[:1]))


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _parse_runs(content: Mapping[str, Any], _: str) -> dict[str, LessonRun]:
    environment = parse_environment(content["environment"])
    return {
        name: LessonRun(
            environment=environment,
            sha256=record["sha256"],
            outputs=tuple(CellOutput(text=one["text"], picture=one["picture"]) for one in record["outputs"]),
            device_name=content["environment"]["device_name"],
        )
        for name, record in content["records"].items()
    }
