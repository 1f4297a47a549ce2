"""The home page and the data of its search: what finds what, and in which order."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from bs4 import BeautifulSoup

from registry.merge import merge_registry
from registry.model import Registry
from sitegen.facets import STATUSES
from sitegen.render import render_site
from sitegen.search_data import render_search_data
from tests.committed import committed_registry, committed_search_data
from tests.conftest import ROOT
from tests.samples import HOSTILE, knowledge, release, revision
from tests.sitegen.test_render import a_registry
from tests.tools import run_node

pytestmark = pytest.mark.slow

SEARCH = """
import { readFileSync } from "node:fs";
import { advise } from "./docs/assets/js/advice.js";
import { facetTable, filterOf, passesAll, readState } from "./docs/assets/js/filters.js";
import { buildIndex, search } from "./docs/assets/js/search.js";
import { highlight, whereFound } from "./docs/assets/js/snippets.js";

const { data, texts, query } = JSON.parse(readFileSync(0, "utf8"));
const { before, breaks, facets } = JSON.parse(data);
const index = buildIndex(breaks, before);
const filters = readState(query).pairs.map((pair) => filterOf(pair, facetTable(facets)));
const inWords = (way) => ({ ...way, drop: way.drop?.map((one) => one.words) });
const answers = texts.map((text) => {
  const { entries, words, respelt } = search(index, text, passesAll(filters));
  const first = entries[0];
  return {
    ids: entries.map((entry) => entry.id),
    respelt,
    where: first ? whereFound(first, words) : null,
    marks: first ? highlight(first.title, words.flatMap((one) => one.spellings)).filter((part) => part.marked) : [],
    advice: entries.length ? [] : advise(index, text, filters).map(inWords),
  };
});
console.log(JSON.stringify(answers));
"""


def find(searched: Registry | str, *texts: str, query: str = "") -> list[dict[str, Any]]:
    """What each text finds in a registry, or in its data."""
    data = searched if isinstance(searched, str) else render_search_data(searched)
    given = json.dumps({"data": data, "texts": texts, "query": query})
    found: list[dict[str, Any]] = json.loads(run_node(SEARCH, stdin=given))
    return found


def titled(*titles: str, **more: object) -> Registry:
    return merge_registry(
        knowledge({f"GB{number:04}": [revision(title)] for number, title in enumerate(titles, 1)}, **more)
    )


# The page


def committed_home() -> str:
    """`generate_site.py --check`, which is a test of its own, says that it is what the data gives."""
    return (ROOT / "docs" / "index.md").read_text("utf-8")


def test_the_list_stands_in_the_page_as_torchs_readers_know_it() -> None:
    registry = committed_registry()
    lines = [line for line in committed_home().splitlines() if line.startswith('<li><a href="gb/')]
    assert len(lines) == len(registry)
    items = BeautifulSoup("\n".join(lines), "html5lib").select("li")
    for item, gb in zip(items, registry, strict=True):
        assert item.get_text() == f"{gb.gb_id} — {gb.gb_type}"
        assert item.a is not None
        assert item.a["href"] == f"gb/{gb.gb_id.lower()}.html"


def test_the_controls_offer_every_kind_status_and_release() -> None:
    registry = committed_registry()
    page = BeautifulSoup(committed_home().split("---\n", 2)[2], "html5lib")
    options = {
        str(select["name"]): [str(option.get("value", option.get_text())) for option in select.select("option")]
        for select in page.select("select")
    }
    assert options["category"] == ["", *(category.key for category in registry.categories)]
    assert options["status"] == ["", *STATUSES]
    assert options["since"] == options["live"] == ["", *reversed(registry.releases)]
    assert options["fix"] == ["", "any", "none", "custom op", "flag", "rewrite"]
    assert options["device"] == ["", "cpu", "cuda"]


def test_a_registry_without_releases_has_a_home_page_too() -> None:
    page = render_site(titled("alone"), ROOT / "templates")["index.md"]
    assert "new in torch" not in page
    assert '<li><a href="gb/gb0001.html">GB0001</a> — alone</li>' in page


# The data


def test_the_data_is_one_line_per_id_and_the_same_each_time() -> None:
    registry = committed_registry()
    text = render_search_data(registry)
    assert text == committed_search_data()
    lines = sum(line.startswith('{"id":') for line in text.splitlines())
    assert lines == len(registry) + len(registry.other_messages)
    assert [entry["id"] for entry in json.loads(text)["breaks"]] == [gb.gb_id for gb in registry]


def test_the_data_stays_small_on_the_way() -> None:
    assert len(gzip.compress(committed_search_data().encode())) < 250_000


def test_the_committed_data_is_what_would_be_generated() -> None:
    committed = (ROOT / "docs/assets/data/breaks.json").read_text(encoding="utf-8")
    assert committed == committed_search_data()


def test_a_program_comes_without_what_every_program_has() -> None:
    entry = json.loads(render_search_data(a_registry()))["breaks"][0]
    assert entry["lead"] == "A `lead`."
    assert entry["program"].startswith('REACH = "private"\n')
    assert "def broken(x):\n    return x.item() < 1\ndef fixed(x):" in entry["program"]
    assert entry["old"] == ["old type"]
    assert entry["hints"] == ["Set a to b.", "Or not.", "h"]


# What finds what


@pytest.mark.parametrize(
    "text", ["170", "gb170", "GB0170", "gb0170", " GB0170 ", "https://host.invalid/gb/gb0170.html", "gb0170.html"]
)
def test_an_id_is_found_however_it_is_written(text: str) -> None:
    assert find(committed_search_data(), text)[0]["ids"][0] == "GB0170"


def test_every_title_of_every_release_finds_its_own_id() -> None:
    """torch looks an id up by its title, old ones included; where several ids have one title, each is found."""
    registry = committed_registry()
    titles = [(gb.gb_id, dated.revision.gb_type) for gb in registry for dated in gb.revisions]
    found = find(committed_search_data(), *(title for _, title in titles))
    holders: dict[str, set[str]] = {}
    for gb_id, title in titles:
        holders.setdefault(" ".join(title.lower().split()), set()).add(gb_id)
    for (gb_id, title), answer in zip(titles, found, strict=True):
        same = holders[" ".join(title.lower().split())]
        assert gb_id in answer["ids"], title
        if registry_title(registry, gb_id) == title:
            assert answer["ids"][0] in same, title


def registry_title(registry: Registry, gb_id: str) -> str:
    return next(gb.gb_type for gb in registry if gb.gb_id == gb_id)


def test_titles_are_ranked_exact_prefix_word_start_inside_then_words_apart() -> None:
    registry = titled("the ungenerator", "a generator in a list", "Generator list", "generator", "of a list: generator")
    assert find(registry, "generator")[0]["ids"] == ["GB0004", "GB0003", "GB0005", "GB0002", "GB0001"]
    assert find(registry, "generator list")[0]["ids"] == ["GB0003", "GB0005", "GB0002"]


@pytest.mark.parametrize(
    "text", ["torch._dynamo.exc.Unsupported: a generator", "Unsupported: a generator", "Explanation: a generator"]
)
def test_what_torch_puts_before_a_message_is_not_searched_for(text: str) -> None:
    assert find(titled("a generator in a list", "b"), text)[0]["ids"] == ["GB0001"]


def test_a_title_comes_before_an_old_title_and_that_before_the_rest() -> None:
    older = revision("needle once")
    registry = merge_registry(
        knowledge(
            {
                "GB0001": [revision("a", hints=["needle"])],
                "GB0002": [revision("b", explanation="needle")],
                "GB0003": [revision("c"), older],
                "GB0004": [revision("with a needle")],
            }
        )
    )
    answer = find(registry, "needle")[0]
    assert answer["ids"] == ["GB0004", "GB0003", "GB0002", "GB0001"]


def test_words_apart_in_a_title_come_before_an_old_title() -> None:
    registry = merge_registry(
        knowledge({"GB0001": [revision("a"), revision("generator list")], "GB0002": [revision("list of generator")]})
    )
    assert find(registry, "generator list")[0]["ids"] == ["GB0002", "GB0001"]


@pytest.mark.parametrize(
    ("text", "place", "piece"),
    [
        ("old type", "in an old wording", "old type"),
        ("lead", "in the description", "A `lead`."),
        ("item", "in the program", "return x.item() < 1"),
        ("or not", "in a hint", "Or not."),
        ("new type", None, None),
    ],
)
def test_a_result_says_where_it_was_found_unless_in_the_title(text: str, place: str | None, piece: str | None) -> None:
    answer = find(a_registry(), text)[0]
    assert answer["ids"][0] == "GB0001"
    assert answer["where"] == (place and {"place": place, "text": piece})


def test_of_several_places_the_one_that_tells_most_is_named() -> None:
    registry = merge_registry(
        knowledge({"GB0001": [revision("a", "needle in a context", "needle", ["needle, hay", "needle"])]})
    )
    both, one = find(registry, "hay needle", "needle")
    assert both["where"] == {"place": "in a hint", "text": "needle, hay"}
    assert one["where"] == {"place": "in the message", "text": "needle"}


def test_all_words_must_be_found_somewhere() -> None:
    registry = titled("generator of lists", "generator", "lists")
    assert find(registry, "lists generator")[0]["ids"] == ["GB0001"]
    assert find(registry, "lists generator absent")[0]["ids"] == []


@pytest.mark.parametrize("text", ["genrator", "generrator", "genarator", "egnerator", "xgenerator", "genrat"])
def test_one_mistake_in_a_long_word_is_forgiven_as_a_last_resort(text: str) -> None:
    registry = titled("Attempt to trace generator", "a list")
    answer = find(registry, text)[0]
    assert answer["ids"] == ["GB0001"]
    assert answer["respelt"][0]["word"] == text


def test_a_mistake_is_not_sought_where_the_word_occurs_or_is_short() -> None:
    registry = titled("generator", "generation", "lost")
    assert find(registry, "generator")[0] | {"where": 0, "marks": 0} == {
        "ids": ["GB0001"],
        "respelt": [],
        "where": 0,
        "marks": 0,
        "advice": [],
    }
    assert find(registry, "list")[0]["ids"] == []


def test_words_that_a_filter_hides_are_not_respelt() -> None:
    registry = titled("generator", "generators", releases=[release("2.8.0", {"GB0001": [revision("generator")]})])
    answer = find(registry, "generators", query="?live=2.8.0")[0]
    assert answer["ids"] == []
    assert answer["advice"][0] == {"drop": ["emitted by torch: 2.8.0"], "count": 1}


def test_the_filter_named_is_the_one_that_helps_most() -> None:
    answer = find(committed_search_data(), "generator", query="?category=context-managers&status=open&live=2.15.0")[0]
    assert answer["ids"] == []
    way = answer["advice"][0]
    kept = {
        "status: No program yet": "?category=context-managers&live=2.15.0",
        "kind: Context managers": "?status=open&live=2.15.0",
        "emitted by torch: 2.15.0": "?category=context-managers&status=open",
    }
    counts = {
        words: len(find(committed_search_data(), "generator", query=query)[0]["ids"]) for words, query in kept.items()
    }
    assert way["count"] == max(counts.values()) > 0
    assert counts[way["drop"][0]] == way["count"]


def test_an_empty_result_offers_the_nearest_spelling() -> None:
    registry = titled("Attempt to trace generator", "a list")
    assert find(registry, "gneerratr")[0]["advice"] == []
    assert find(registry, "genaratr")[0]["advice"] == [{"text": "generator", "count": 1}]


def test_every_hostile_title_finds_itself_and_is_marked_as_text() -> None:
    registry = titled(*HOSTILE)
    found = find(registry, *HOSTILE)
    for number, (text, answer) in enumerate(zip(HOSTILE, found, strict=True), 1):
        assert f"GB{number:04}" in answer["ids"], text
    assert all("".join(part["text"] for part in answer["marks"]) for answer in found)


def test_marks_lie_on_the_words() -> None:
    answer = find(titled("Generators generate a Generator"), "generat tor")[0]
    assert [part["text"] for part in answer["marks"]] == ["Generator", "generat", "Generator"]


# The address


def test_a_state_survives_the_address() -> None:
    script = """
    import { readState, writeState } from "./docs/assets/js/filters.js";
    import { readFileSync } from "node:fs";
    const states = JSON.parse(readFileSync(0, "utf8"));
    console.log(JSON.stringify(states.map((state) => [writeState(state), readState(writeState(state))])));
    """
    states = [
        {"text": "", "pairs": []},
        {"text": "a & b = c + d #e % “é” <img>", "pairs": []},
        {"text": "", "pairs": [["since", "ge:2.13.0"], ["status", "verified,reproduced"]]},
        {"text": "x", "pairs": [["run", "2.13.0 cpu eager other id"], ["run", "2.15.0 cpu eager stopped"]]},
    ]
    written = json.loads(run_node(script, stdin=json.dumps(states)))
    assert [state for _, state in written] == states
    assert written[0][0] == ""
    assert written[2][0] == "?since=ge:2.13.0&status=verified,reproduced"
