"""The registry as it is committed, read once for all tests."""

from __future__ import annotations

from functools import cache

from registry.advice import advice_of
from registry.fix_benchmark import FixBenchmark, make_benchmark
from registry.knowledge import read_knowledge
from registry.merge import merge_registry
from registry.model import GraphBreak, Registry
from registry.pages import read_pages
from registry.snapshot import read_snapshot
from sitegen.search_data import render_search_data
from tests.conftest import ROOT


@cache
def committed_registry() -> Registry:
    """What the checkout's own data give, notes included."""
    folder = ROOT / "registry"
    snapshot = read_snapshot(folder / "snapshot")
    known = read_knowledge(folder, wordings=snapshot.wordings, origin=snapshot.origin, superseded=snapshot.superseded)
    pages = read_pages(ROOT / "docs" / "gb", known.all_wordings())
    return merge_registry(known, {gb_id: page.note for gb_id, page in pages.pages.items()})


@cache
def committed_breaks() -> dict[str, GraphBreak]:
    """By id."""
    return {gb.gb_id: gb for gb in committed_registry()}


@cache
def committed_benchmark() -> FixBenchmark:
    """The tasks that are made of it."""
    return make_benchmark(committed_registry())


@cache
def committed_search_data() -> str:
    """What the search box of the home page gets of it."""
    return render_search_data(committed_registry(), advice_of(committed_registry()))
