"""Notebooks: made of the text files in `notebooks/`, and executed from top to bottom.

`python -m repro_runner.lessons.notebooks [NAME ...]` writes each beside its text file, with its outputs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from registry.lessons import NOTEBOOK_RUN, read_cells, source_digest
from repro_runner.environment import describe_environment

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
_SECONDS = 600
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def make_notebook(path: Path) -> NotebookNode:
    """The notebook of a text file, not executed yet."""
    source = path.read_text("utf-8")
    cells = [
        new_markdown_cell(cell.text, id=f"cell-{number}")
        if cell.text
        else new_code_cell(cell.code, id=f"cell-{number}")
        for number, cell in enumerate(read_cells(source))
    ]
    notebook: NotebookNode = new_notebook(cells=cells, metadata={"kernelspec": _KERNEL})
    return notebook


def execute(notebook: NotebookNode, *, variables: Mapping[str, str] | None = None) -> None:
    """Run all cells in the project's folder. Raises nbclient's CellExecutionError if one fails."""
    place = {"metadata": {"path": str(NOTEBOOKS.parent)}}
    client = NotebookClient(notebook, timeout=_SECONDS, kernel_name="python3", resources=place)
    client.execute(env={**os.environ, **(variables or {})})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of this run


def main(names: Sequence[str]) -> None:
    """Write the notebooks with their outputs."""
    for path in sorted(NOTEBOOKS.glob("*.py")):
        if names and path.stem not in names:
            continue
        notebook = make_notebook(path)
        execute(notebook)
        environment = describe_environment("cpu")
        notebook.metadata[NOTEBOOK_RUN] = {**environment, "sha256": source_digest(path.read_text("utf-8"))}
        nbformat.write(notebook, path.with_suffix(".ipynb"))
        print(f"{path.stem}: executed", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
