"""How well the search finds what people type: tests/search_queries.yml, asked of the committed registry."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from statistics import mean
from typing import Any

import yaml

from tests.committed import committed_search_data
from tests.conftest import ROOT
from tests.tools import run_node

ASK = """
import { readFileSync } from "node:fs";
import { facetTable, valuesOf } from "./templates/scripts/filters.js";
import { buildIndex, search } from "./templates/scripts/search.js";

const { data, texts } = JSON.parse(readFileSync(0, "utf8"));
const { before, breaks, facets, kinds } = JSON.parse(data);
const kind = facetTable(facets).get("category");
const index = buildIndex(breaks, before, (entry) => kinds[valuesOf(entry, kind)[0]]);
console.log(JSON.stringify(texts.map((text) => search(index, text).entries.map((entry) => entry.id))));
"""


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody types, and the ids of which any is a right answer."""

    text: str
    gb_ids: tuple[str, ...]

    @property
    def held(self) -> bool:
        """Whether it only measures: nothing may be added to the registry for its sake."""
        return int(hashlib.sha256(self.text.encode()).hexdigest(), 16) % 3 == 0


@cache
def queries() -> tuple[Query, ...]:
    entries: list[dict[str, Any]] = yaml.safe_load((ROOT / "tests" / "search_queries.yml").read_text("utf-8"))
    return tuple(Query(one["query"], tuple(one["ids"])) for one in entries)


@cache
def answers() -> dict[Query, list[str]]:
    """Every query with the ids that it finds, best first."""
    given = json.dumps({"data": committed_search_data(), "texts": [one.text for one in queries()]})
    return dict(zip(queries(), json.loads(run_node(ASK, stdin=given)), strict=True))


def reciprocal_rank(query: Query) -> float:
    """1 if the first answer is right, 1/2 if the second is, …, 0 if none is."""
    places = [place for place, gb_id in enumerate(answers()[query], 1) if gb_id in query.gb_ids]
    return 1 / places[0] if places else 0


def mean_reciprocal_rank(*, held: bool) -> float:
    return mean(reciprocal_rank(one) for one in queries() if one.held is held)
