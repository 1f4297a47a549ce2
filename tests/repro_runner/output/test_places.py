"""Places in a program, as short as they can be and still be found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repro_runner.output.places import (
    in_library,
    in_package,
    located,
    shown_file,
    shown_place,
    shown_where,
    with_shown_places,
)

FOLDER = Path("/home/me/project")
PACKAGES = "/venv/lib/python3.11/site-packages"


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("/home/me/project/deep/model.py", "deep/model.py"),
        ("/home/me/project/deep/../model.py", "model.py"),
        ("deep/model.py", "deep/model.py"),
        ("./model.py", "model.py"),
        ("/home/me/project-2/model.py", "/home/me/project-2/model.py"),
        ("../other/model.py", "../other/model.py"),
        ("/elsewhere/model.py", "/elsewhere/model.py"),
        (f"{PACKAGES}/transformers/models/led.py", "…/transformers/models/led.py"),
        ("/home/me/project/.venv/lib/python3.11/site-packages/lib/model.py", "…/lib/model.py"),
        ("/a/site-packages/b/site-packages/lib/model.py", "…/lib/model.py"),
        ("/usr/lib/python3.11/json/decoder.py", "…/json/decoder.py"),
        ("<frozen importlib>", "<frozen importlib>"),
        ("", "(no file)"),
        ("/tmp/ipykernel_123/4567.py", "cell"),
        ("<ipython-input-3-ab12>", "cell"),
    ],
)
def test_a_file_is_named_from_the_folder_or_from_its_package(file: str, shown: str) -> None:
    assert shown_file(file, FOLDER) == shown
    assert shown_place(file, 3, FOLDER) == f"{shown}:3"


def test_a_path_is_shown_as_short_as_it_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_where(f"{tmp_path}/deep/model.py:3") == "deep/model.py:3"
    assert shown_where("/elsewhere/model.py:3") == "/elsewhere/model.py:3"
    assert shown_where("/venv/lib/python3.11/site-packages/lib/model.py:3") == "…/lib/model.py:3"
    assert shown_where("") == ""


@pytest.mark.parametrize(
    "text", ["", "model.py", "model.py:", "model.py:three", "a sentence", "ratio: 3 of 4", "/home/me/project/model.py"]
)
def test_a_text_that_is_no_place_stays(text: str) -> None:
    assert shown_where(text, FOLDER) == text


def test_a_line_without_a_file_says_so() -> None:
    assert shown_where(":3", FOLDER) == "(no file):3"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gelu (op 3, /home/me/project/way/model.py:15)", "gelu (op 3, way/model.py:15)"),
        (f"'{PACKAGES}/lib/a.py:1', /elsewhere/b.py:2; end", "'…/lib/a.py:1', /elsewhere/b.py:2; end"),
        ("/home/me/project/a.py:1: /home/me/project/b.py:2", "a.py:1: b.py:2"),
        ("/home/me/project/model.py, without a line", "/home/me/project/model.py, without a line"),
        ("https://example.org/home/me/project/a.py:1", "https://example.org/home/me/project/a.py:1"),
        ("nothing here", "nothing here"),
    ],
)
def test_every_place_in_a_sentence_is_shortened(text: str, shown: str) -> None:
    assert with_shown_places(text, FOLDER) == shown


def test_a_file_belongs_to_a_package_to_the_library_or_to_nothing() -> None:
    package, library, own = Path(f"{PACKAGES}/torch/nn/a.py"), Path(json.__file__), FOLDER / "model.py"
    assert (in_package(package), in_package(own)) == ("torch/nn/a.py", "")
    assert (in_library(package), in_library(library), in_library(own)) == ("torch/nn/a.py", "json/__init__.py", "")


def test_a_file_is_located_from_where_the_program_was_started() -> None:
    assert located("deep/../model.py", FOLDER) == FOLDER / "model.py"
    assert located("../model.py", FOLDER) == FOLDER.parent / "model.py"
    assert located("/elsewhere/model.py", FOLDER) == Path("/elsewhere/model.py")


def test_an_address_with_a_port_is_no_place() -> None:
    assert shown_where("http://localhost:8000") == "http://localhost:8000"
