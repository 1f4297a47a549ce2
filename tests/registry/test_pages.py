from __future__ import annotations

from pathlib import Path

from registry.model import Note
from registry.notes import END, START, seal
from registry.pages import check_altered, read_pages
from tests.samples import revision

KNOWN = [{gb_id: (revision("the type"),) for gb_id in ("GB0001", "GB0007")}]
PAGE = f'---\ntitle: "T"\n---\n# head\n\n{START}\n\n{END}\n'
UPSTREAM = f"""---
layout: default
---
# GB0007

## Graph-Break Type
*Short name describing what triggered the graph break*

the type

## Context
*Values or code snippet captured at the break point*

c

## Explanation
*Explanation of why the graph break was triggered*

e

## Hints
*Hints on how to resolve the graph break*

- h

## Additional Information

{START}

their note

{END}

[Click here to add Additional Info](https://github.com/meta-pytorch/compile-graph-break-site/edit/main/docs/gb/gb0007.md)

[Back to Registry](../index.html)
"""


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_bytes(text.encode("utf-8"))


def test_a_page_of_the_upstream_site_is_taken_with_its_note_and_type(tmp_path: Path) -> None:
    write(tmp_path, "gb0007.md", UPSTREAM)
    found = read_pages(tmp_path, KNOWN)
    assert found.problems == ()
    assert found.pages["GB0007"].file == "gb0007.md"
    assert found.pages["GB0007"].note == Note(text="\ntheir note\n", written_for="the type")


def test_foreign_text_on_an_upstream_page_is_refused_at_its_line(tmp_path: Path) -> None:
    write(tmp_path, "gb0007.md", UPSTREAM.replace("- h\n", "- h\n- my own hint\n"))
    found = read_pages(tmp_path, KNOWN)
    assert found.refused == {"GB0007"}
    (problem,) = found.problems
    assert problem.where == "docs/gb/gb0007.md:25"


def test_foreign_text_after_the_note_is_refused_at_its_line(tmp_path: Path) -> None:
    write(tmp_path, "gb0007.md", UPSTREAM + "\nmine\n")
    (problem,) = read_pages(tmp_path, KNOWN).problems
    assert problem.where == f"docs/gb/gb0007.md:{UPSTREAM.count(chr(10)) + 2}"


def test_a_page_changed_outside_its_note_is_altered_and_the_first_new_line_is_named(tmp_path: Path) -> None:
    sealed = seal(PAGE, Note(text="note", written_for="T"))
    write(tmp_path, "GB0001.md", sealed.replace("# head\n", "# head\n\nmine\n"))
    found = read_pages(tmp_path, KNOWN)
    assert found.refused == {"GB0001"}
    (problem,) = check_altered(found.altered, {"GB0001": sealed.splitlines()})
    assert problem.where == "docs/gb/GB0001.md:8"
    assert "--overwrite GB0001" in problem.message


def test_overwrite_takes_the_note_and_lets_the_rest_go(tmp_path: Path) -> None:
    write(tmp_path, "GB0001.md", seal(PAGE, Note(text="note", written_for="T")).replace("# head", "# mine"))
    found = read_pages(tmp_path, KNOWN, overwrite={"GB0001"})
    assert found.refused == frozenset()
    assert found.pages["GB0001"].note.text == "note"


def test_both_spellings_with_one_note_are_one_page(tmp_path: Path) -> None:
    write(tmp_path, "gb0007.md", UPSTREAM)
    write(tmp_path, "GB0007.md", seal(PAGE, Note(text="\n", written_for="T")))
    page = read_pages(tmp_path, KNOWN).pages["GB0007"]
    assert (page.file, list(page.twins), page.note.text) == ("GB0007.md", ["gb0007.md"], "\ntheir note\n")


def test_both_spellings_with_different_notes_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "gb0007.md", UPSTREAM)
    write(tmp_path, "GB0007.md", seal(PAGE, Note(text="my note", written_for="T")))
    found = read_pages(tmp_path, KNOWN)
    assert found.refused == {"GB0007"}
    assert "GB0007.md holds another note" in found.problems[0].message


def test_a_file_that_is_no_page_is_reported_and_a_missing_folder_is_empty(tmp_path: Path) -> None:
    write(tmp_path, "README.md", "x")
    assert [problem.where for problem in read_pages(tmp_path, KNOWN).problems] == ["docs/gb/README.md:1"]
    assert read_pages(tmp_path / "absent", []).pages == {}


def test_an_upstream_page_of_an_id_that_is_newer_than_all_we_know_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "gb0009.md", UPSTREAM.replace("the type", "another type"))
    write(tmp_path, "GB0008.md", seal(PAGE, Note(text="", written_for="T")))
    found = read_pages(tmp_path, KNOWN)
    assert found.newer == {"GB0009": "gb0009.md"}
    assert found.files.keys() == found.pages.keys() == {"GB0008"}
    assert found.problems == ()
