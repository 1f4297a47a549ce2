"""Programs that were parsed before are not parsed again, and nothing but time depends on that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.model import Repro
from registry.parse_cache import ParseCache
from registry.repros import parse_repro, read_repros
from tests.conftest import ROOT

SOURCE = (ROOT / "registry" / "repros" / "GB0124.py").read_text("utf-8")


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "graphbreak" / "programs.json"


def refuse(source: str, name: str) -> Repro:
    raise AssertionError(f"{name} was parsed again: {len(source)} characters")


def parse_once() -> Repro:
    cache = ParseCache()
    repro = cache.parse(SOURCE, "GB0124", parse_repro)
    cache.save()
    return repro


def test_the_next_process_does_not_parse_and_has_the_same() -> None:
    parsed = parse_once()
    assert ParseCache().parse(SOURCE, "GB0124", refuse) == parsed == parse_repro(SOURCE, "GB0124")


def test_every_program_is_the_same_from_the_cache() -> None:
    folder = ROOT / "registry" / "repros"
    assert read_repros(folder) == read_repros(folder)


@pytest.mark.parametrize(("text", "name"), [(SOURCE + "\n", "GB0124"), (SOURCE, "GB0125")])
def test_another_text_or_name_is_parsed(text: str, name: str) -> None:
    parse_once()
    with pytest.raises(AssertionError, match="was parsed again"):
        ParseCache().parse(text, name, refuse)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"programs": {}}', '{"parser": "older", "programs": {"a": 1}}'])
def test_a_file_that_is_damaged_or_of_another_version_is_no_problem(content: str, kept: Path) -> None:
    kept.parent.mkdir()
    kept.write_text(content)
    assert parse_once() == parse_repro(SOURCE, "GB0124")
    assert len(read(kept)["programs"]) == 1


def test_a_folder_that_can_not_be_written_to_is_no_problem(kept: Path) -> None:
    kept.parent.write_text("a file, and no folder")
    assert parse_once() == parse_repro(SOURCE, "GB0124")


def test_a_program_with_a_fault_is_not_kept(tmp_path: Path, kept: Path) -> None:
    (tmp_path / "GB0124.py").write_text(SOURCE.replace("def broken", "def unbroken"))
    for _ in range(2):
        with pytest.raises(Exception, match="needs a function `broken`"):
            read_repros(tmp_path)
    assert not kept.exists()


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))
