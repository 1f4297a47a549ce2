"""The form of `graphbreak ui`: from its fields to the words of a command, and from a run back into the form."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import InvalidInput
from repro_runner.demo.quick import QuickRun
from repro_runner.runs import RunFolder
from repro_runner.ui.folder import ProjectFolder
from tests.repro_runner.ui.conftest import MARKUP, Open, shown

pytestmark = pytest.mark.slow  # streamlit takes seconds to import

MODEL = """\
import torch

def make_inputs():
    return torch.ones(3)

def with_defaults(size=3):
    return torch.nn.Linear(size, size), torch.ones(size)

def make_model():
    return torch.nn.Linear(3, 3)

def takes_inputs(x):
    return x + 1

def _private():
    return 1

def returns_nothing():
    print(1)

class NotAFunction:
    pass
"""


@pytest.fixture
def model(project: Path) -> Path:
    (project / "nets").mkdir()
    path = project / "nets" / "mine.py"
    path.write_text(MODEL)
    return path


@pytest.mark.parametrize(
    ("quick", "words"),
    [
        (QuickRun(), "--model bert"),
        (QuickRun(model="resnet", batch=3, padding=2, seed=-1), "--model resnet --batch 3 --padding 2 --seed=-1"),
        (QuickRun(rtol=1e-3, atol=0.0, pictures=False), "--model bert --rtol 0.001 --atol 0 --no-pictures"),
        (
            QuickRun(deny_op=("gelu", "mm"), dtypes="float32"),
            "--model bert --dtypes float32 --deny-op gelu --deny-op mm",
        ),
        (QuickRun(device_file="npu.yml", max_memory="2MiB"), "--model bert --limits npu.yml --max-memory 2MiB"),
        (QuickRun(force_failure=True, gradients=True), "--model bert --force-failure --gradients"),
        (
            QuickRun(backend="mine:b", timeout=60.0, memory=2.5),
            "--model bert --backend mine:b --timeout 60 --memory 2.5",
        ),
    ],
)
def test_settings_become_words_and_come_back_from_a_manifest(quick: QuickRun, words: str) -> None:
    assert quick.words() == ["demo", "--quick", *words.split()]
    manifest = {"subject": quick.model, **{name: value for name, value in quick.given().items() if name != "model"}}
    written = {name: list(value) if isinstance(value, tuple) else value for name, value in manifest.items()}
    assert QuickRun.from_manifest(written) == quick


def test_a_manifest_with_anything_in_it_gives_settings_that_a_form_can_show() -> None:
    strange = {"subject": MARKUP, "batch": "many", "rtol": [], "deny_op": [1, None], "pictures": "yes", "seed": None}
    assert QuickRun.from_manifest(strange) == QuickRun(model=MARKUP, deny_op=("1", "None"))


def test_all_that_is_wrong_with_settings_is_said_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        QuickRun(model="ssm", padding=2, max_memory="much").examination()
    assert [problem.where for problem in refused.value.problems] == ["--padding", "--max-memory"]
    with pytest.raises(InvalidInput, match="no such model; did you mean bert"):
        QuickRun(model="brt").examination()
    with pytest.raises(InvalidInput, match="the function in your file makes the inputs"):
        QuickRun(model="mine.py:make", batch=4).examination()


def test_functions_that_can_make_a_model_are_found_without_importing_the_file(model: Path) -> None:
    model.write_text(MODEL + "\nraise SystemExit('imported')\n")
    found = ProjectFolder.current()
    assert found.model_files() == ["nets/mine.py"]
    assert found.functions("nets/mine.py") == ["make_model", "with_defaults", "takes_inputs"]
    model.write_text("def broken(:\n  torch")
    assert found.functions("nets/mine.py") == []


def test_only_files_below_the_folder_are_taken(
    model: Path, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.py"
    outside.write_text(MODEL)
    (project / "link.py").symlink_to(outside)
    (project / "inside.py").symlink_to(model)
    (project / "folder").symlink_to(outside.parent)
    (project / "loop.py").symlink_to(project / "loop.py")
    (project / ".hidden").mkdir()
    (project / ".hidden" / "model.py").write_text(MODEL)
    found = ProjectFolder.current()
    assert found.model_files() == ["inside.py", "nets/mine.py"]
    for name in ("link.py", str(outside), "folder/secret.py", "../outside/secret.py", "nets", "a\0b", "x" * 5000):
        assert not found.holds(name)
        assert found.functions(name) == []


@pytest.mark.usefixtures("model")
def test_the_form_shows_the_command_as_it_is_filled_in(open_page: Open) -> None:
    app = open_page("new_run_page")
    assert app.code[0].value == "graphbreak demo --quick --model bert"
    app.toggle[2].set_value(True)
    app.number_input[0].set_value(4)
    app.text_input[4].set_value("gelu, mm")
    app.run()
    assert app.code[0].value == (
        "graphbreak demo --quick --model bert --batch 4 --deny-op gelu --deny-op mm --force-failure"
    )
    app.selectbox[0].set_value("a file of mine").run()
    assert app.code[0].value.startswith("graphbreak demo --quick --model nets/mine.py:make_model --deny-op gelu")
    assert not app.button[0].disabled


def test_what_is_wrong_is_said_in_the_words_of_the_command(open_page: Open) -> None:
    app = open_page("new_run_page")
    app.selectbox[0].set_value("ssm")
    app.number_input[1].set_value(3)
    app.run()
    assert "--padding: ssm has no mask that would leave it out" in shown(app)
    assert app.button[0].disabled
    app.text_input[0].set_value("a lot").run()
    assert "rtol: a lot is not a number from 0 on" in shown(app)


@pytest.mark.usefixtures("model")
def test_a_run_fills_in_the_form(project: Path, open_page: Open) -> None:
    quick = QuickRun(model="nets/mine.py:with_defaults", rtol=0.5, deny_op=("gelu",), gradients=True, alignment=8)
    settings = {name: value for name, value in quick.given().items() if name != "model"}
    run = RunFolder.create("demo", home=project / ".graphbreak", subject=quick.model, **settings)
    assert open_page("new_run_page", like=run.id).code[0].value == quick.command()


def test_a_run_of_a_model_that_is_not_here_can_not_be_repeated(project: Path, open_page: Open) -> None:
    home = project / ".graphbreak"
    run = RunFolder.create("demo", home=home, subject=MARKUP, backend="../out.py:backend", device_file=MARKUP)
    app = open_page("new_run_page", like=run.id)
    assert "--backend ../out.py: not a file below" in shown(app)
    assert app.button[0].disabled
    assert not app.markdown
