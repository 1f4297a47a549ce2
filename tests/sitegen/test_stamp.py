"""What a run takes from the last one: files whose inputs are the same, and never a file that would be another."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from registry.model import (
    Counsel,
    Finding,
    Fits,
    GraphBreak,
    Lesson,
    Note,
    Registry,
    Sighting,
    Unreached,
)
from sitegen.render import render_site
from sitegen.stamp import STAMP, LastRun, Texts
from sitegen.write import plan_changes, write_changes
from tests.conftest import ROOT
from tests.sitegen.api_registry import CPU, REPRO, small_registry

Change = Callable[[Registry], Registry]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the small registry was rendered."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "templates", root / "templates")
    last = LastRun(root, root / "docs", ())
    texts = render_site(small_registry(), root / "templates", last.keep)
    write_changes(plan_changes(root / "docs", texts))
    last.leave(texts)
    return root


def run_again(root: Path, registry: Registry) -> dict[str, str]:
    return render_site(registry, root / "templates", LastRun(root, root / "docs", ()).keep)


def on(gb_id: str, **fields: Any) -> Change:
    """Another value of one id."""
    return on_each(lambda gb: replace(gb, **fields) if gb.gb_id == gb_id else gb)


def on_each(change: Callable[[GraphBreak], GraphBreak]) -> Change:
    return lambda registry: replace(registry, breaks=tuple(map(change, registry)))


def with_evidence(registry: Registry, **fields: Any) -> Registry:
    first, *others = registry.breaks[0].evidence
    return on("GB0001", evidence=(replace(first, **fields), *others))(registry)


def with_title(registry: Registry, at: int, title: str) -> Registry:
    newest, *older = registry.breaks[at].revisions
    named = replace(newest, revision=replace(newest.revision, gb_type=title))
    return on(registry.breaks[at].gb_id, revisions=(named, *older))(registry)


LESSON = Lesson(name="x", title="X", lead="L", explains=("GB0001",), file="examples/x.py", cells=(), sha256="1")
FITS = Fits(names=(), fixes={}, counsels=(Counsel(globs=("*",), text="Try it."),))
CHANGES: dict[str, Change] = {
    "the text of a note": on("GB0001", note=Note(text="another\n", written_for="old type")),
    "what a note was written for": on("GB0001", note=Note(text="my *note*\r\n", written_for="new type")),
    "no note": on("GB0001", note=None),
    "a first note": on("GB0002", note=Note(text="one\n", written_for="bare")),
    "a title": lambda registry: with_title(registry, 0, "newer type"),
    "the title of a neighbour": lambda registry: with_title(registry, 1, "new type, too"),
    "a wording": lambda registry: on("GB0002", revisions=registry.breaks[2].revisions)(registry),
    "no wording but the newest": lambda registry: on("GB0001", revisions=registry.breaks[0].revisions[:1])(registry),
    "a program": on("GB0001", repro=replace(REPRO, source=REPRO.source.replace("item()", "item() + 1"))),
    "the lead of a program": on("GB0001", repro=replace(REPRO, lead="Another lead.")),
    "the limits of a fix": on("GB0001", repro=replace(REPRO, limits={})),
    "an older record": lambda registry: with_evidence(registry, repro_sha256="older"),
    "a verdict": lambda registry: with_evidence(registry, verdicts={"eager": "stopped"}),
    "the message of a run": lambda registry: with_evidence(registry, message="other words"),
    "what else a program gives": lambda registry: with_evidence(registry, ids=("GB0001", "GB0003")),
    "another id's program": on("GB0003", repro=replace(REPRO, name="GB0003", gb_id="GB0003")),
    "the text of a category": lambda registry: replace(
        registry, categories=tuple(replace(one, why=f"{one.why} Or so.") for one in registry.categories)
    ),
    "the category of an id": on("GB0001", category="uncategorised"),
    "a lesson": lambda registry: replace(registry, lessons=(*registry.lessons, LESSON)),
    "a counsel": lambda registry: replace(registry, fits={**registry.fits, "GB0001": FITS}),
    "where programs ran": lambda registry: replace(registry, environments=(CPU,)),
    "one release less": lambda registry: replace(registry, releases=registry.releases[1:]),
    "what a release knows": lambda registry: on("GB0003", history=registry.breaks[1].history)(registry),
    "that upstream dropped it": on("GB0002", registered=False),
    "a sighting": on("GB0002", sightings=(Sighting(name="m", environment=CPU, sites=1, compiled=1),)),
    "why it is not reached": on("GB0002", unreached=Unreached(category="other", evidence="It is so.")),
    "a finding": on("GB0001", findings=(Finding(gb_id="GB0001", kind="other", finding="F", evidence="E"),)),
    "an alias": on("GB0001", aliases=("item",)),
    "an id less": lambda registry: replace(registry, breaks=registry.breaks[:-1]),
    "the glossary": lambda registry: replace(registry, glossary={**registry.glossary, "graph": "A thing."}),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_after_a_change_the_files_are_those_of_a_run_that_keeps_nothing(checkout: Path, what: str) -> None:
    registry = CHANGES[what](small_registry())
    assert run_again(checkout, registry) == render_site(registry, checkout / "templates")


@pytest.mark.parametrize("name", ["graph_break.md.j2", "scripts/loading.js"])
def test_after_a_change_of_a_template_everything_is_rendered(checkout: Path, tmp_path: Path, name: str) -> None:
    root = shutil.copytree(checkout, tmp_path / "checkout")
    with (root / "templates" / name).open("a") as file:
        file.write("\n// more\n")
    assert run_again(root, small_registry()) == render_site(small_registry(), root / "templates")


@pytest.mark.parametrize("path", ["gb/GB0001.md", "api/v1/gb/GB0001.json", "index.md"])
def test_what_was_edited_since_is_not_taken(checkout: Path, tmp_path: Path, path: str) -> None:
    root = shutil.copytree(checkout, tmp_path / "checkout")
    with (root / "docs" / path).open("a") as file:
        file.write("more\n")
    assert run_again(root, small_registry()) == render_site(small_registry(), root / "templates")


def test_without_a_change_nothing_is_made(checkout: Path) -> None:
    assert made_again(checkout, small_registry()) == []


def test_a_note_makes_its_own_files_and_no_others(checkout: Path) -> None:
    assert made_again(checkout, CHANGES["the text of a note"](small_registry())) == ["GB0001", "GB0001 by its parts"]


def test_what_was_not_asked_for_is_still_known_in_the_run_after(checkout: Path, tmp_path: Path) -> None:
    root = shutil.copytree(checkout, tmp_path / "checkout")
    last = LastRun(root, root / "docs", ())
    last.leave(render_site(small_registry(), root / "templates", last.keep))
    made = made_again(root, CHANGES["an alias"](small_registry()))
    assert [name for name in made if name.endswith("parts")] == ["GB0001 by its parts"]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"made": 1}', '{"made": {"all": ["", 1]}}'])
def test_a_damaged_stamp_is_none(checkout: Path, tmp_path: Path, content: str) -> None:
    root = shutil.copytree(checkout, tmp_path / "checkout")
    (root / STAMP).write_text(content)
    last = LastRun(root, root / "docs", ())
    texts = render_site(small_registry(), root / "templates", last.keep)
    assert texts == render_site(small_registry(), root / "templates")
    last.leave(texts)
    assert made_again(root, small_registry()) == []


def made_again(root: Path, registry: Registry) -> list[str]:
    """The names of what is not taken from the last run; of what is made of parts, both names."""
    made = []
    last = LastRun(root, root / "docs", ())

    def keep(name: str, inputs: object, make: Callable[[], Texts]) -> Texts:
        def noted() -> Texts:
            made.append(name)
            return make()

        return last.keep(name, inputs, noted)

    render_site(registry, root / "templates", keep)
    return made
