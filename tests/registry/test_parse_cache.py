"""Programs that were parsed before are not parsed again, and nothing but time depends on that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry import snippets
from registry.parse_cache import ParseCache
from registry.repros import read_repros
from registry.snippets import Programs, programs_of
from tests.committed import committed_registry
from tests.conftest import ROOT

SOURCE = (ROOT / "registry" / "repros" / "GB0124.py").read_text("utf-8")


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "graphbreak" / "sizes.json"


def measure(text: str = SOURCE, *, known: bool = False) -> int:
    """The length of a text, by what a process keeps for the next; AssertionError if it is made again."""

    def make() -> int:
        assert not known, "parsed again"
        return len(text)

    cache = ParseCache[int]("sizes", dump=int, load=int)
    size = cache.recall(text, make)
    cache.save()
    return size


def test_the_next_process_does_not_parse() -> None:
    assert measure() == measure(known=True) == len(SOURCE)


def test_another_text_is_parsed() -> None:
    measure()
    with pytest.raises(AssertionError, match="parsed again"):
        measure(SOURCE + "\n", known=True)


def test_every_program_is_the_same_from_the_cache() -> None:
    folder = ROOT / "registry" / "repros"
    assert read_repros(folder) == read_repros(folder)


def test_every_program_is_taken_apart_in_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def taken_apart() -> Programs:
        monkeypatch.setattr(snippets, "_APART", {})
        return programs_of(committed_registry())

    first = taken_apart()
    monkeypatch.setattr(snippets, "_cut", None)
    assert taken_apart() == first


def test_an_entry_that_is_damaged_is_made_again(kept: Path) -> None:
    measure()
    known = read(kept)
    kept.write_text(json.dumps({**known, "programs": dict.fromkeys(known["programs"], "no number")}))
    assert measure() == len(SOURCE)
    assert list(read(kept)["programs"].values()) == [len(SOURCE)]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"programs": {}}', '{"parser": "older", "programs": {"a": 1}}'])
def test_a_file_that_is_damaged_or_of_another_version_is_no_problem(content: str, kept: Path) -> None:
    kept.parent.mkdir()
    kept.write_text(content)
    assert measure() == len(SOURCE)
    assert len(read(kept)["programs"]) == 1


def test_a_folder_that_can_not_be_written_to_is_no_problem(kept: Path) -> None:
    kept.parent.write_text("a file, and no folder")
    assert measure() == len(SOURCE)


def test_a_program_with_a_fault_is_not_kept(tmp_path: Path, kept: Path) -> None:
    (tmp_path / "GB0124.py").write_text(SOURCE.replace("def broken", "def unbroken"))
    for _ in range(2):
        with pytest.raises(Exception, match="needs a function `broken`"):
            read_repros(tmp_path)
    assert not kept.with_name("programs.json").exists()


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))
