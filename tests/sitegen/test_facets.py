"""What the filters let through is what Python counts, for every value of every facet."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from registry.advice import advice_of
from registry.model import Environment, Registry
from sitegen.facets import FACETS, OF_RELEASES, facet_values, facets_of, list_link, run_value
from sitegen.search_data import render_search_data
from tests.committed import committed_registry, committed_search_data
from tests.sitegen.test_render import a_registry
from tests.tools import run_node

pytestmark = pytest.mark.slow

COUNT = """
import { readFileSync } from "node:fs";
import { facetTable, filterOf, passesAll, readState } from "./templates/scripts/filters.js";

const { data, queries } = JSON.parse(readFileSync(0, "utf8"));
const { breaks, facets } = JSON.parse(data);
const table = facetTable(facets);
const answers = queries.map((query) => {
  const filters = readState(query).pairs.map((pair) => filterOf(pair, table));
  const ids = breaks.filter(passesAll(filters)).map((entry) => entry.id);
  return { ids, words: filters.map((one) => one.words), known: filters.every((one) => one.known) };
});
console.log(JSON.stringify(answers));
"""


def answers(registry: Registry, queries: list[str]) -> list[dict[str, Any]]:
    """What the page's own code makes of these addresses."""
    data = (
        committed_search_data()
        if registry is committed_registry()
        else render_search_data(registry, advice_of(registry))
    )
    given = json.dumps({"data": data, "queries": queries})
    found: list[dict[str, Any]] = json.loads(run_node(COUNT, stdin=given))
    return found


def query(**facets: str) -> str:
    return f"?{urlsplit(list_link(**facets)).query}"


def has(registry: Registry, facet: str, *values: str) -> list[str]:
    """The ids that have one of the values, counted without the page's code."""
    return [gb.gb_id for gb in registry if set(values) & set(facets_of(gb).get(facet, ()))]


@pytest.mark.parametrize("make", [a_registry, committed_registry])
def test_every_value_of_every_facet_lets_through_what_python_counts(make: Any) -> None:
    registry = make()
    pairs = [(facet, value) for facet, values in facet_values(registry).items() for value in values]
    expected: dict[tuple[str, str], list[str]] = {pair: [] for pair in pairs}
    for gb in registry:
        for facet, values in facets_of(gb).items():
            for value in values:
                expected[facet, value].append(gb.gb_id)
    found = answers(registry, [query(**{facet: value}) for facet, value in pairs])
    assert all(answer["known"] for answer in found)
    assert dict(zip(pairs, (answer["ids"] for answer in found), strict=True)) == expected


def test_the_values_of_the_facets_are_all_that_occur() -> None:
    registry = committed_registry()
    occurring = {(facet, value) for gb in registry for facet, values in facets_of(gb).items() for value in values}
    listed = [(facet, value) for facet, values in facet_values(registry).items() for value in values]
    assert max(Counter(listed).values()) == 1
    assert occurring <= set(listed)
    assert {facet for gb in registry for facet in facets_of(gb)} <= set(FACETS)
    assert len(occurring) > 100


def test_releases_are_in_their_own_order_not_the_alphabets() -> None:
    registry = committed_registry()
    values = facet_values(registry)
    assert all(values[facet] == registry.releases for facet in OF_RELEASES)
    assert registry.releases.index("2.9.0") < registry.releases.index("2.10.0")


@pytest.mark.parametrize("release", ["2.8.0", "2.9.1", "2.10.0", "2.13.0", "2.15.0"])
def test_the_first_release_is_compared_as_a_release(release: str) -> None:
    registry = committed_registry()
    at = registry.releases.index(release)
    expected = {
        "ge": has(registry, "since", *registry.releases[at:]),
        "le": has(registry, "since", *registry.releases[: at + 1]),
        "eq": has(registry, "since", release),
    }
    found = answers(registry, [f"?since={sign}:{release}" for sign in expected])
    assert [answer["ids"] for answer in found] == list(expected.values())


def test_facets_are_anded_and_a_comma_means_or() -> None:
    registry = committed_registry()
    either = answers(registry, [query(status="verified,reproduced")])[0]
    assert either["ids"] == has(registry, "status", "verified", "reproduced")
    assert either["words"] == ["status: Verified fix or Reproduced"]
    both = answers(registry, [query(live="2.13.0", run="2.13.0 cpu eager verified", category="context-managers")])[0]
    sets = [
        has(registry, "live", "2.13.0"),
        has(registry, "run", "2.13.0 cpu eager verified"),
        has(registry, "category", "context-managers"),
    ]
    assert both["ids"] == sorted(set.intersection(*map(set, sets)))
    assert both["ids"]


def test_one_facet_twice_asks_for_both() -> None:
    registry = committed_registry()
    runs = ["2.13.0 cpu eager verified", "2.15.0 cpu eager stopped"]
    address = "?" + "&".join(query(run=run)[1:] for run in runs)
    expected = set.intersection(*(set(has(registry, "run", run)) for run in runs))
    assert set(answers(registry, [address])[0]["ids"]) == expected
    assert expected


def test_any_and_none_ask_whether_there_is_a_value() -> None:
    registry = committed_registry()
    some, none = answers(registry, ["?gap=any", "?gap=none"])
    assert some["ids"] == [gb.gb_id for gb in registry if "gap" in facets_of(gb)]
    assert sorted(some["ids"] + none["ids"]) == [gb.gb_id for gb in registry]


def test_what_is_not_known_is_said() -> None:
    registry = a_registry()
    facet, value, release = answers(registry, ["?colour=red", "?live=9.9.9", "?since=ge:9.9.9"])
    assert facet == {"ids": [gb.gb_id for gb in registry], "words": ["colour: no such filter, ignored"], "known": False}
    assert value == {"ids": [], "words": ["emitted by torch: 9.9.9 (no such value)"], "known": False}
    assert release["ids"] == []


@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString"])
def test_names_that_javascript_knows_are_not_facets(name: str) -> None:
    assert answers(a_registry(), [f"?{name}=x"])[0]["known"] is False
    assert answers(a_registry(), [f"?status={name}"])[0]["ids"] == []


def test_a_link_to_a_list_is_read_back_as_it_was_meant() -> None:
    environment = Environment(torch="2.13.0", python="3.11", device="cpu")
    link = list_link(run=run_value(environment, "eager", "other id"), live="2.13.0")
    assert link.startswith("index.html?")
    assert parse_qsl(urlsplit(link).query) == [
        ("torch", "2.13.0"),  # whatever release the reader chose
        ("run", "2.13.0 cpu eager other id"),
        ("live", "2.13.0"),
    ]
