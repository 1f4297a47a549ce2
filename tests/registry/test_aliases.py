"""Words that people type, and the ids that they mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.aliases import read_aliases
from registry.errors import InvalidInput
from tests.committed import committed_registry


def read(folder: Path, text: str) -> dict[str, tuple[str, ...]]:
    path = folder / "aliases.yml"
    path.write_text(text, "utf-8")
    return read_aliases(path)


def test_an_id_has_all_its_aliases(tmp_path: Path) -> None:
    assert read(tmp_path, "b c: [GB0001, GB0002]\na: [GB0001]\n") == {"GB0001": ("a", "b c"), "GB0002": ("b c",)}
    assert read(tmp_path, "") == {}
    assert read_aliases(tmp_path / "absent.yml") == {}


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(tmp_path, "true: [GB0001]\nword: GB0001\nother: [GB1]\n")
    assert [problem.message for problem in caught.value.problems] == [
        "True: put the word in quotes: YAML does not read it as text",
        "word: needs a list of ids such as [GB0042]",
        "other: needs a list of ids such as [GB0042]",
    ]


def test_every_alias_is_for_an_id_that_is_there_and_that_has_not_the_words_in_its_title() -> None:
    titles = {gb.gb_id: gb.gb_type.lower() for gb in committed_registry()}
    aliased = [(gb.gb_id, alias) for gb in committed_registry() for alias in gb.aliases]
    assert [(gb_id, alias) for gb_id, alias in aliased if alias.lower() in titles[gb_id]] == []
