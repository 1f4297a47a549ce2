from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise, product

import pytest
from bs4 import BeautifulSoup

from registry.evidence_changes import VERDICTS
from registry.merge import merge_registry
from registry.model import PROVEN, Environment, Evidence, Registry, Repro
from sitegen.release_changes import Pair, RunChanges, compare_releases, compare_runs, devices_of
from sitegen.releases_page import releases_data
from tests.committed import committed_registry
from tests.samples import knowledge, release, revision, site
from tests.sitegen.overview_pages import real_pages
from tests.tools import json_of, run_node

pytestmark = pytest.mark.slow

COMPARE_ALL = """
import { readFileSync } from "node:fs";
import { compareReleases, compareRuns, devicesOfBoth } from "./templates/scripts/release-changes.js";
const data = JSON.parse(readFileSync(0, "utf-8"));
const ids = (groups) => Object.entries(groups).map(([group, entries]) => [group, entries.map((one) => one.id)]);
const answer = [];
for (const { torch: from } of data.releases) {
  for (const { torch: to } of data.releases) {
    const runs = devicesOfBoth(data, from, to).map((device) => [device, ids(compareRuns(data, from, to, device))]);
    answer.push([from, to, ids(compareReleases(data, from, to)), runs]);
  }
}
console.log(JSON.stringify(answer));
"""

CHOSEN = """
import { readFileSync } from "node:fs";
import { chosen } from "./templates/scripts/release-changes.js";
const [query, mine] = process.argv.slice(-2);
console.log(JSON.stringify(chosen(JSON.parse(readFileSync(0, "utf-8")), query, mine)));
"""

OLD, NEW = Pair("2.8.0", "2.9.0"), Pair("2.9.0", "2.10.0")


def a_history() -> Registry:
    """One id for everything that can happen between two releases, and three releases."""
    kept, was, new = revision("kept"), revision("was"), revision("is")
    longer = revision("kept", explanation="more words")
    first = {gb_id: [kept] for gb_id in ("GB0001", "GB0002", "GB0003", "GB0004")}
    one = {**first, "GB0005": [was], "GB0006": [revision("a meaning")], "GB0007": [revision("b")]}
    two = {**one, "GB0002": [longer], "GB0005": [new], "GB0008": [revision("young")]}
    two["GB0006"] = [revision("b")]  # what was GB0007's
    del two["GB0003"]
    emitted = [site(found[0].gb_type, gb_id) for gb_id, found in two.items() if gb_id != "GB0004"]
    later = {**two, "GB0002": [kept]}
    return merge_registry(
        knowledge(later, releases=[release("2.8.0", one), release("2.9.0", two, emitted), release("2.10.0", later)])
    )


def ids(changes: object) -> dict[str, list[str]]:
    assert isinstance(changes, dict)
    return {group: [gb.gb_id for gb in breaks] for group, breaks in changes.items()}


def programs(changes: RunChanges) -> dict[str, list[str]]:
    return {group: [gb.gb_id for gb, _ in found] for group, found in changes.items()}


def test_everything_that_happens_between_two_releases_has_its_group() -> None:
    assert ids(compare_releases(a_history(), OLD)) == {
        "added": ["GB0008"],
        "dropped": ["GB0003"],
        "reworded": ["GB0002", "GB0005"],
        "meaning": ["GB0006"],
        "retired": ["GB0003", "GB0004"],
    }
    assert ids(compare_releases(a_history(), NEW)) == {"reworded": ["GB0002"], "emitted": ["GB0004"]}


def test_a_wording_that_came_back_did_not_change_between_the_outer_two() -> None:
    changes = ids(compare_releases(a_history(), Pair("2.8.0", "2.10.0")))
    assert changes["reworded"] == ["GB0005"]
    assert "retired" not in changes or "GB0004" not in changes["retired"]


def test_backwards_what_was_added_is_dropped() -> None:
    changes = ids(compare_releases(a_history(), Pair("2.9.0", "2.8.0")))
    assert (changes["added"], changes["dropped"], changes["meaning"]) == (["GB0003"], ["GB0008"], ["GB0006"])


@pytest.mark.parametrize(
    ("before", "after", "group"),
    [
        ("stopped", "reproduced", "started"),
        ("other id", "verified", "other"),
        ("verified", "stopped", "stopped"),
        ("reproduced", "other id", "other"),
        ("reproduced", "verified", "gained"),
        ("verified", "reproduced", "lost"),
        ("verified", "failed", "failed"),
        ("failed", "stopped", "failed"),
        ("verified", "verified", None),
        ("stopped", "other id", None),
        ("verified", "not applicable", None),
        ("not run", "verified", None),
        ("not run", "failed", None),
    ],
)
def test_a_program_that_did_something_else_has_its_group(before: str, after: str, group: str | None) -> None:
    registry = ran(before, after)
    expected = {group: ["GB0001"]} if group else {}
    assert programs(compare_runs(registry, OLD, "cpu")) == expected
    assert pairs_by_script(registry)[OLD][1] == ([["cpu", [[group, ["GB0001"]]] if group else []]])


def ran(before: str, after: str) -> Registry:
    """One program, run in two releases; a second one, so that both releases were run."""
    wordings = {"GB0001": [revision("a")], "GB0002": [revision("b")]}
    repros = {
        gb_id: Repro(name=gb_id, gb_id=gb_id, lead="L", source="", sha256="x", fixes={}, isolated=())
        for gb_id in wordings
    }
    verdicts = {"GB0001": (before, after), "GB0002": ("verified", "verified")}
    evidence = {
        gb_id: tuple(
            Evidence(
                environment=Environment(torch=torch, python="3.11", device="cpu"),
                repro_sha256="x",
                verdicts={"eager": verdict},
            )
            for torch, verdict in zip(("2.8.0", "2.9.0"), seen, strict=True)
            if verdict != "not run"
        )
        for gb_id, seen in verdicts.items()
    }
    releases = [release("2.8.0", wordings), release("2.9.0", wordings)]
    return merge_registry(knowledge(wordings, releases=releases, repros=repros, evidence=evidence))


def pairs_by_script(registry: Registry) -> dict[Pair, tuple[object, object]]:
    """What release-changes.js says of every pair of releases: (groups, groups of runs per device)."""
    answer = json.loads(run_node(COMPARE_ALL, stdin=releases_data(registry)))
    return {Pair(before, after): (groups, runs) for before, after, groups, runs in answer}


@pytest.mark.parametrize("read", [committed_registry, a_history])
def test_the_script_finds_what_python_finds_for_every_pair_of_releases(read: Callable[[], Registry]) -> None:
    registry = read()
    found = pairs_by_script(registry)
    assert len(found) == len(registry.releases) ** 2
    for before, after in product(registry.releases, repeat=2):
        pair = Pair(before, after)
        devices = sorted(devices_of(registry, before) & devices_of(registry, after))
        groups, runs = found[pair]
        assert groups == [list(item) for item in ids(compare_releases(registry, pair)).items()], pair
        assert runs == [
            [device, [list(item) for item in programs(compare_runs(registry, pair, device)).items()]]
            for device in devices
        ], pair


@pytest.mark.parametrize(
    ("query", "mine", "pair"),
    [
        ("?", "2.10.0", ("2.9.0", "2.10.0")),
        ("?from=2.8.0&to=2.9.0", "2.9.0", ("2.8.0", "2.9.0")),
        ("?from=2.10.0&to=2.8.0", "2.10.0", ("2.10.0", "2.8.0")),
        ("?from=9.9.9&to=<b>", "2.10.0", ("2.9.0", "2.10.0")),
        ("?to=2.8.0&more=1", "2.10.0", ("2.9.0", "2.8.0")),
        ("?", "2.8.0", ("2.8.0", "2.10.0")),
    ],
)
def test_an_address_names_two_releases_or_the_readers_and_the_newest_are_shown(
    query: str, mine: str, pair: tuple[str, str]
) -> None:
    answer = json.loads(run_node(CHOSEN, query, mine, stdin=releases_data(a_history())))
    assert (answer["from"], answer["to"]) == pair


def test_the_data_has_a_line_per_id() -> None:
    text = real_pages()["assets/data/releases.js"]
    content = json.loads(json_of(text))
    assert list(content["ids"]) == [gb.gb_id for gb in committed_registry()]
    for gb in committed_registry():
        assert sum(line.startswith(f'"{gb.gb_id}":') for line in text.splitlines()) == 1
    assert list(content["verdicts"]) == list(VERDICTS)
    assert len(VERDICTS) < 10  # one digit each


def test_without_script_every_release_has_its_lists() -> None:
    page = BeautifulSoup(real_pages()["releases.md"], "html.parser")
    releases = committed_registry().releases
    for before, after in pairwise(releases):
        heading = page.find(id=f"torch-{after}")
        assert heading is not None
        listed = []
        for sibling in heading.find_next_siblings():
            if sibling.name in ("h2", "h3"):
                break
            if sibling.name == "details":
                listed.append([link.get_text() for link in sibling.select("li > a:first-child")])
        changes = compare_releases(committed_registry(), Pair(before, after))
        assert listed == list(ids(changes).values())
    assert page.find(id=f"torch-{releases[0]}") is not None


def test_what_upgrading_buys_is_every_program_that_breaks_before_and_compiles_in_the_newest() -> None:
    page = BeautifulSoup(real_pages()["releases.md"], "html.parser")
    registry = committed_registry()
    *older, newest = [one.torch for one in registry.environments if one.device == "cpu"]
    for before in older:
        (fold,) = [one for one in page.select("#upgrading ~ details") if f"From torch {before} " in one.get_text()]
        gone = [
            gb.gb_id
            for gb in registry
            for one in gb.programs
            if one.verdict_in(before, "cpu") in PROVEN and one.verdict_in(newest, "cpu") == "stopped"
        ]
        assert [link.get_text() for link in fold.select("li > a")] == gone
        assert fold.select("summary")[0].get_text() == f"From torch {before} ({len(gone)})"


def test_a_changed_title_is_shown_with_the_one_before() -> None:
    page = BeautifulSoup(real_pages()["releases.md"], "html.parser")
    pairs = {tuple(one.get_text() for one in item.select("del, ins")) for item in page.select("li:has(del)")}
    assert pairs
    assert all(before != after for before, after in pairs)
