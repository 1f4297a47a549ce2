"""The home page and the data of its search: what finds what, and in which order."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import pytest
from bs4 import BeautifulSoup

from registry.advice import advice_of
from registry.merge import merge_registry
from registry.model import Registry
from sitegen.compact import data_script
from sitegen.facets import STATUSES
from sitegen.render import render_site
from sitegen.search_data import render_search_data
from tests.committed import committed_registry, committed_search_data
from tests.conftest import ROOT
from tests.samples import HOSTILE, knowledge, release, revision, site
from tests.search_queries import answers, mean_reciprocal_rank, queries
from tests.sitegen.test_render import a_registry
from tests.tools import json_of, run_node

pytestmark = pytest.mark.slow

SEARCH = """
import { readFileSync } from "node:fs";
import { advise } from "./templates/scripts/advice.js";
import { facetTable, filterOf, passesAll, readState } from "./templates/scripts/filters.js";
import { buildIndex, search } from "./templates/scripts/search.js";

const { data, texts, query } = JSON.parse(readFileSync(0, "utf8"));
const { before, breaks, facets } = JSON.parse(data);
const index = buildIndex(breaks, before);
const filters = readState(query).pairs.map((pair) => filterOf(pair, facetTable(facets)));
const inWords = (way) => ({ ...way, drop: way.drop?.map((one) => one.words) });
const answers = texts.map((text) => {
  const { entries, whole, most, counted, respelt } = search(index, text, passesAll(filters));
  return {
    ids: entries.map((entry) => entry.id),
    whole: entries.slice(0, whole).map((entry) => entry.id),
    most,
    counted,
    respelt,
    advice: entries.length ? [] : advise(index, text, filters).map(inWords),
  };
});
console.log(JSON.stringify(answers));
"""


def find(searched: Registry | str, *texts: str, query: str = "") -> list[dict[str, Any]]:
    """What each text finds in a registry, or in its data."""
    data = searched if isinstance(searched, str) else search_data(searched)
    given = json.dumps({"data": data, "texts": texts, "query": query})
    found: list[dict[str, Any]] = json.loads(run_node(SEARCH, stdin=given))
    return found


def search_data(registry: Registry) -> str:
    return render_search_data(registry, advice_of(registry))


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
        assert item.get_text().startswith(f"{gb.gb_id} — {gb.gb_type} ")
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
    assert '<li><a href="gb/gb0001.html">GB0001</a> — alone <span' in page
    assert 'id="met"' not in page


# The data


def test_the_data_is_one_line_per_id_and_the_same_each_time() -> None:
    registry = committed_registry()
    text = search_data(registry)
    assert text == committed_search_data()
    lines = sum(line.startswith('{"id":') for line in text.splitlines())
    assert lines == len(registry) + len(registry.other_messages)
    assert [entry["id"] for entry in json.loads(text)["breaks"]] == [gb.gb_id for gb in registry]


def test_the_data_stays_small_on_the_way() -> None:
    assert len(gzip.compress(committed_search_data().encode())) < 250_000


def test_the_committed_data_is_what_would_be_generated() -> None:
    committed = (ROOT / "docs/assets/data/breaks.js").read_text(encoding="utf-8")
    assert {"assets/data/breaks.js": committed} == data_script("breaks", committed_search_data())


def test_what_is_only_searched_is_a_list_of_words() -> None:
    entry = json.loads(search_data(a_registry()))["breaks"][0]
    assert entry["lead"] == "A `lead`."
    assert entry["old"] == ["old type"]
    assert entry["calls"].split() == ["item"]
    assert {"Set", "Or", "not"} <= set(entry["says"].split())


def test_ids_and_titles_for_the_page_of_wrong_addresses() -> None:
    registry = titled(*HOSTILE)
    ids = render_site(registry, ROOT / "templates")["assets/data/ids.js"]
    assert json.loads(json_of(ids)) == {gb.gb_id: gb.gb_type for gb in registry}


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


def test_a_whole_title_comes_first_then_a_whole_word_then_a_part_of_one() -> None:
    registry = titled("the ungenerator", "a generator in a list", "generators", "generator")
    assert find(registry, "generator")[0]["ids"] == ["GB0004", "GB0002", "GB0003", "GB0001"]
    assert find(registry, "generator list")[0]["whole"] == ["GB0002"]


@pytest.mark.parametrize(
    "text", ["torch._dynamo.exc.Unsupported: a generator", "Unsupported: a generator", "Explanation: a generator"]
)
def test_what_torch_puts_before_a_message_is_not_searched_for(text: str) -> None:
    assert find(titled("a generator in a list", "b"), text)[0]["whole"] == ["GB0001"]


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
    assert answer["ids"][:2] == ["GB0004", "GB0003"]
    assert set(answer["ids"][2:]) == {"GB0002", "GB0001"}


def test_an_old_title_that_is_typed_whole_comes_before_its_words_in_another() -> None:
    registry = merge_registry(
        knowledge({"GB0001": [revision("a"), revision("generator list")], "GB0002": [revision("list of generator")]})
    )
    assert find(registry, "generator list")[0]["ids"] == ["GB0001", "GB0002"]
    assert find(registry, "list generator")[0]["ids"] == ["GB0002", "GB0001"]


def test_all_words_come_before_some_of_them() -> None:
    registry = titled("generator of lists", "generator", "lists")
    answer, none, nothing = find(registry, "lists generator", "lists generator absent", "absent")
    assert answer["ids"] == ["GB0001", "GB0002", "GB0003"]
    assert answer["whole"] == ["GB0001"]
    assert (none["ids"][0], none["whole"], none["most"], none["counted"]) == ("GB0001", [], 2, 3)
    assert nothing["ids"] == []


def test_words_that_say_little_are_not_missed() -> None:
    answer = find(titled("a tensor", "call the function"), "how to call a tensor in my function")[0]
    assert answer["whole"] == ["GB0001"]


@pytest.mark.parametrize("text", ["x.numpy()", "y = x.numpy()", ".numpy()"])
def test_code_finds_the_title_that_has_it(text: str) -> None:
    assert find(titled("numpy array of numpy", "Tensor.numpy() with a flag"), text)[0]["ids"][0] == "GB0002"


@pytest.mark.parametrize(
    "text", ["capture_scalar_outputs", "capture_scalar", "capture outputs", "BackendFailed", "backend"]
)
def test_a_name_is_found_whole_and_by_its_parts(text: str) -> None:
    registry = titled("something else", "with capture_scalar_outputs=False of BackendCompilerFailed", "other")
    assert find(registry, text)[0]["ids"] == ["GB0002"]


@pytest.mark.parametrize("text", ["compiled twice", "compile twice", "compiling twice", "compiles twice"])
def test_the_ending_of_a_word_does_not_matter(text: str) -> None:
    assert find(titled("it compiles twice", "other"), text)[0]["whole"] == ["GB0001"]


def test_of_two_that_fit_the_live_one_comes_first() -> None:
    wordings = {"GB0001": [revision("needle a")], "GB0002": [revision("needle b")]}
    releases = [release("2.8.0", wordings), release("2.9.0", wordings, [site("needle b", "GB0002")])]
    registry = titled("needle a", "needle b", releases=releases)
    assert [gb.lifecycle for gb in registry] == ["retired", "live"]
    assert find(registry, "needle")[0]["ids"] == ["GB0002", "GB0001"]


@pytest.mark.parametrize("text", ["genrator", "generrator", "genarator", "egnerator", "xgenerator", "genrat"])
def test_one_mistake_in_a_long_word_is_forgiven_as_a_last_resort(text: str) -> None:
    registry = titled("Attempt to trace generator", "a list")
    answer = find(registry, text)[0]
    assert answer["ids"] == ["GB0001"]
    assert answer["respelt"] == [{"word": text, "as": ["generator" if len(text) > 6 else "generat"]}]


def test_a_mistake_is_not_sought_where_the_word_occurs_or_is_short() -> None:
    occurs, short = find(titled("generator", "lost"), "generator", "list")
    assert (occurs["ids"], occurs["respelt"]) == (["GB0001"], [])
    assert short["ids"] == []


def test_words_that_a_filter_hides_are_not_respelt() -> None:
    registry = titled("generator", "genarator", releases=[release("2.8.0", {"GB0001": [revision("generator")]})])
    answer = find(registry, "genarator", query="?live=2.8.0")[0]
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


def test_every_hostile_title_finds_itself() -> None:
    found = find(titled(*HOSTILE), *HOSTILE)
    for number, (text, answer) in enumerate(zip(HOSTILE, found, strict=True), 1):
        assert f"GB{number:04}" in answer["ids"], text


# The address


def test_a_state_survives_the_address() -> None:
    script = """
    import { readState, writeState } from "./templates/scripts/filters.js";
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


# How well it finds what people type


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def test_the_queries_are_many_know_their_ids_and_are_not_the_titles() -> None:
    titles = {gb.gb_id: words(gb.gb_type) for gb in committed_registry()}
    asked = queries()
    assert len(asked) >= 120
    assert len({one.text for one in asked}) == len(asked)
    assert {gb_id for one in asked for gb_id in one.gb_ids} <= titles.keys()
    of_a_title = [one for one in asked if any(len(words(one.text) & titles[gb_id]) >= 3 for gb_id in one.gb_ids)]
    assert len(of_a_title) <= len(asked) / 4


def test_no_alias_was_added_for_a_held_query() -> None:
    aliases = [(alias, gb.gb_id) for gb in committed_registry() for alias in gb.aliases]
    held = [one for one in queries() if one.held]
    assert aliases
    assert held
    assert [
        (alias, one.text)
        for alias, gb_id in aliases
        for one in held
        if gb_id in one.gb_ids and words(alias) <= words(one.text)
    ] == []


def test_the_search_finds_what_people_type() -> None:
    assert [one.text for one in queries() if not answers()[one]] == []
    assert mean_reciprocal_rank(held=True) >= 0.85
    assert mean_reciprocal_rank(held=False) >= 0.9
