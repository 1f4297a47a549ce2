"""One rule per function; each yields problems as path:line plus what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from registry.errors import Problem
from registry.merge import Knowledge
from registry.model import Registry
from registry.taxonomy import UNCATEGORISED


def check_repros_have_an_id(registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """A repro for an id that nobody knows."""
    ids = _ids(registry)
    for gb_id in sorted(known.repros.keys() - ids):
        yield Problem(f"registry/repros/{gb_id}.py:1", "no such graph break; rename or delete this file")


def check_evidence_has_an_id(registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """Evidence for an id that nobody knows."""
    for gb_id in sorted(known.evidence.keys() - _ids(registry)):
        yield Problem("registry/evidence:1", f"{gb_id}: no such graph break; delete its records")


def check_taxonomy_ids_exist(registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """The taxonomy names an id that nobody knows."""
    listed = {gb_id for category in known.categories for gb_id in category.ids}
    for gb_id in sorted(listed - _ids(registry)):
        yield Problem("registry/taxonomy.yml:1", f"{gb_id}: no such graph break; remove it")


RULES: tuple[Callable[[Registry, Knowledge], Iterator[Problem]], ...] = (
    check_repros_have_an_id,
    check_evidence_has_an_id,
    check_taxonomy_ids_exist,
)


def check_all(registry: Registry, known: Knowledge) -> tuple[Problem, ...]:
    """Run every rule."""
    return tuple(problem for rule in RULES for problem in rule(registry, known))


def check_pages_have_an_id(registry: Registry, files: Mapping[str, str]) -> Iterator[Problem]:
    """A page for an id that nobody knows is left as it is."""
    for gb_id in sorted(files.keys() - _ids(registry)):
        yield Problem(f"docs/gb/{files[gb_id]}:1", "no such graph break; rename or delete this page")


def warn_uncategorised(registry: Registry) -> Iterator[Problem]:
    """A new id upstream must not stall the refresh: it is shown as uncategorised until somebody places it."""
    for gb in registry:
        if gb.category == UNCATEGORISED.key:
            yield Problem("registry/taxonomy.yml:1", f"{gb.gb_id} ({gb.gb_type}) has no category; add it to one")


def _ids(registry: Registry) -> set[str]:
    return {gb.gb_id for gb in registry}
