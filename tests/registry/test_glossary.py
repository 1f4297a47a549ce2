"""The glossary's file: read, sorted, and refused with every problem at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import InvalidInput
from registry.glossary import LONGEST, read_glossary, term_anchor
from tests.committed import committed_registry

EXPLAINED = (
    *("Dynamo", "eager", "graph", "graph break", "frame", "guard", "fake tensor", "resume", "mock accelerator"),
    *("Inductor", "recompile", "fullgraph", "backend", "higher-order operator"),
)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "glossary.yml"
    path.write_text(text, "utf-8")
    return path


def test_what_is_committed_explains_the_words_that_pages_use() -> None:
    assert set(EXPLAINED) <= set(committed_registry().glossary)


def test_a_meaning_is_one_or_two_short_sentences() -> None:
    for term, meaning in committed_registry().glossary.items():
        assert meaning.endswith("."), term
        assert meaning.count(". ") < 2, term


def test_terms_are_sorted_and_their_text_is_one_line(tmp_path: Path) -> None:
    path = written(tmp_path, "guard: >-\n  A check.\n  Of a call.\nDynamo: It traces.\n")
    assert list(read_glossary(path).items()) == [("Dynamo", "It traces."), ("guard", "A check. Of a call.")]


@pytest.mark.parametrize("text", ["", "# nothing yet\n"])
def test_a_file_without_a_term_is_a_glossary_without_one(tmp_path: Path, text: str) -> None:
    assert read_glossary(written(tmp_path, text)) == {}
    assert read_glossary(tmp_path / "is not there.yml") == {}


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    long = "a" * (LONGEST + 1)
    text = f"graph break: One.\ngraph-break: Two.\nempty:\n1: A number.\na<b: A sign.\nlong: {long}\n"
    with pytest.raises(InvalidInput) as caught:
        read_glossary(written(tmp_path, text))
    problems = [problem.message for problem in caught.value.problems]
    assert problems == [
        "graph-break: has the same anchor as 'graph break'; keep one",
        "empty: needs a text",
        "1: a term has letters, blanks and hyphens only",
        "a<b: a term has letters, blanks and hyphens only",
        f"long: the text has {LONGEST + 1} characters; {LONGEST} are the most",
    ]


def test_a_list_is_no_glossary(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="write `term: what it means` lines"):
        read_glossary(written(tmp_path, "- guard\n"))


def test_an_anchor_is_the_term_in_small_letters() -> None:
    assert [term_anchor(term) for term in ("Dynamo", "graph break")] == ["dynamo", "graph-break"]
