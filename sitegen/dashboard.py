"""The dashboard's numbers, counted from the Registry alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from registry.evidence import local_id
from registry.findings import KINDS
from registry.model import Category, Finding, GraphBreak, Registry
from registry.taxonomy import UNCATEGORISED
from sitegen.links import source_label, source_url


def dashboard_context(registry: Registry) -> dict[str, Any]:
    """Everything `dashboard.md.j2` shows."""
    newest = registry.releases[-1] if registry.releases else ""
    registered = [gb for gb in registry if gb.registered]
    return {
        "registry": registry,
        "newest": newest,
        "origin": _origin(registry.origin.source),
        "counts": _counts(registry),
        "registered": len(registered),
        "gaps": _gaps(registered),
        "categories": [_category_row(category, registry) for category in _used_categories(registry)],
        "releases": [_release_row(registry, index) for index in reversed(range(len(registry.releases)))],
        "findings": _findings(registry),
        "unregistered": [
            {
                "local_id": local_id(site.gb_type),
                "gb_type": site.gb_type,
                "url": source_url(site, newest),
                "label": source_label(site),
            }
            for site in registry.unregistered
        ],
    }


def _findings(registry: Registry) -> list[tuple[str, list[tuple[GraphBreak, Finding]]]]:
    """By kind, the gravest first."""
    found = [(gb, one) for gb in registry for one in gb.findings]
    grouped = ((kind, [(gb, one) for gb, one in found if one.kind == kind]) for kind in KINDS)
    return [(kind, entries) for kind, entries in grouped if entries]


def _origin(source: str) -> str:
    release = source.removeprefix("release:")
    return source if release == source else f"the registry that torch {release} ships"


def _counts(registry: Registry) -> list[tuple[str, int]]:
    return [
        ("Ids", len(registry)),
        ("Live: emitted by the newest release", _count(gb.history.live for gb in registry)),
        ("Retired: registered, no longer emitted", _count(gb.lifecycle == "retired" for gb in registry)),
        ("Dropped: gone from the registry", _count(gb.lifecycle == "dropped" for gb in registry)),
        ("Local: captured here, no id upstream", _count(gb.local for gb in registry)),
        ("With a hand-written note", _count(bool(gb.note) for gb in registry)),
        ("With a program that causes it", _count(gb.repro is not None for gb in registry)),
        ("With evidence that no program can cause it", _count(gb.unreached is not None for gb in registry)),
    ]


def _gaps(registered: list[GraphBreak]) -> list[tuple[str, int]]:
    return [
        ("With any gap", _count(bool(gb.newest.gaps) for gb in registered)),
        ("No context", _count("context" in gb.newest.gaps for gb in registered)),
        ("No explanation", _count("explanation" in gb.newest.gaps for gb in registered)),
        ("No hints", _count("hints" in gb.newest.gaps for gb in registered)),
    ]


def _used_categories(registry: Registry) -> list[Category]:
    return [c for c in (*registry.categories, UNCATEGORISED) if any(gb.category == c.key for gb in registry)]


def _category_row(category: Category, registry: Registry) -> dict[str, Any]:
    breaks = registry.in_category(category.key)
    return {
        "category": category,
        "breaks": breaks,
        "total": len(breaks),
        "live": _count(gb.history.live for gb in breaks),
        "notes": _count(bool(gb.note) for gb in breaks),
        "gaps": _count(gb.registered and bool(gb.newest.gaps) for gb in breaks),
    }


def _release_row(registry: Registry, index: int) -> dict[str, Any]:
    torch = registry.releases[index]
    return {
        "torch": torch,
        "registered": _count(gb.history.releases[index].registered for gb in registry),
        "live": _count(gb.history.releases[index].live for gb in registry),
        "new": _count(gb.history.first_release == torch for gb in registry),
        "reworded": _count(torch in gb.history.reworded_in for gb in registry),
        "meaning_changed": _count(torch in gb.history.meaning_changed_in for gb in registry),
        "retired": _count(gb.history.retired_in == torch for gb in registry),
    }


def _count(facts: Iterable[bool]) -> int:
    return sum(facts)
