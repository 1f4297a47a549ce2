"""The notebooks are what their text files say, and run from top to bottom."""

from __future__ import annotations

import json
import re

import pytest

from registry.lessons import read_cells, read_notebooks
from repro_runner.lessons.notebooks import NOTEBOOKS, execute, make_notebook
from tests.repro_runner.fixtures.chat_server import saying, serve_chat
from tests.repro_runner.lessons.test_running import MEASURED

ANSWER = """\
CAUSE: The branch needs a number.

<<<<<<< SEARCH
    if x.norm() > 2:
        return x * 2 / x.norm()
    return x
=======
    return torch.where(x.norm() > 2, x * 2 / x.norm(), x)
>>>>>>> REPLACE
"""
NAMES = ("detector", "demo", "taxonomy", "one_break")


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_notebook_has_the_cells_of_its_text_file_and_outputs_without_an_error(name: str) -> None:
    content = json.loads((NOTEBOOKS / f"{name}.ipynb").read_bytes())
    cells = list(read_cells((NOTEBOOKS / f"{name}.py").read_text("utf-8")))
    assert [("".join(cell["source"]), cell["cell_type"]) for cell in content["cells"]] == [
        (cell.text or cell.code, "markdown" if cell.text else "code") for cell in cells
    ]
    (lesson,) = (one for one in read_notebooks(NOTEBOOKS) if one.name == f"notebook_{name}")
    assert lesson.runs, f"{name}: run `make notebooks` again"
    outputs = [output for cell in content["cells"] for output in cell.get("outputs", ())]
    assert outputs
    assert [output for output in outputs if output["output_type"] == "error"] == []
    assert re.search(r"/(home|root|tmp|Users)/", json.dumps(outputs)) is None


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.prove
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_from_top_to_bottom_and_shows_the_same_again(name: str) -> None:
    notebook = make_notebook(NOTEBOOKS / f"{name}.py")
    execute(notebook)
    committed = json.loads((NOTEBOOKS / f"{name}.ipynb").read_bytes())
    assert printed(notebook["cells"]) == printed(committed["cells"])


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.timeout(600)
def test_the_detector_asks_a_language_model_if_one_is_named() -> None:
    notebook = make_notebook(NOTEBOOKS / "detector.py")
    with serve_chat(saying(ANSWER)) as server:
        execute(notebook, variables={"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k", "OPENAI_MODEL": "tiny"})
        assert len(server.bodies) == 1
    said = "\n".join(printed(notebook["cells"]))
    assert "verified" in said
    assert "The branch needs a number." in said


def printed(cells: list[dict[str, object]]) -> list[str]:
    """What cells print; measured numbers are left out."""
    return [
        MEASURED.sub("≈", "".join(output["text"]))
        for cell in cells
        for output in cell.get("outputs", ())  # type: ignore[attr-defined]
        if output["output_type"] == "stream"
    ]
