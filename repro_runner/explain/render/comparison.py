"""A comparison as text for a terminal, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from registry.documents import Document, head
from repro_runner.explain.comparison import Comparison, Figure, Pair
from repro_runner.explain.site import Site
from repro_runner.output.places import shown_place
from repro_runner.output.templates import text_templates
from repro_runner.output.terminal import plain, table
from repro_runner.output.units import counted, seconds

_TEMPLATES = Path(__file__).parent.parent / "templates"


class ComparisonDocument(Document):
    """What changed from the first run to the second."""

    by_type: bool
    differences: list[dict[str, Any]]
    gone_sites: int
    new_sites: int
    gone: list[dict[str, Any]]
    new: list[dict[str, Any]]
    altered: list[dict[str, Any]]
    same: int
    figures: list[dict[str, Any]]


def comparison_document(comparison: Comparison) -> ComparisonDocument:
    """The whole comparison as a JSON document."""
    return {
        **head("comparison"),
        "by_type": comparison.by_type,
        "differences": [asdict(one) for one in comparison.differences],
        "gone_sites": comparison.gone_sites,
        "new_sites": comparison.new_sites,
        "gone": [_site_document(site) for site in comparison.gone],
        "new": [_site_document(site) for site in comparison.new],
        "altered": [
            {
                "before": _site_document(pair.before),
                "after": _site_document(pair.after),
                "moved": pair.moved,
                "changed": pair.changed,
                "counts_differ": pair.counts_differ,
            }
            for pair in comparison.altered
        ],
        "same": len(comparison.pairs) - len(comparison.altered),
        "figures": [asdict(figure) for figure in comparison.figures],
    }


def _site_document(site: Site) -> dict[str, Any]:
    names = ("file", "line", "function", "source", "gb_ids", "gb_type", "kind", "sites", "compiled", "ran")
    return {name: getattr(site, name) for name in names}


def comparison_text(comparison: Comparison) -> str:
    """The comparison as text for a terminal."""
    return "\n".join(_text_lines(comparison))


def _text_lines(comparison: Comparison) -> Iterator[str]:
    for one in comparison.differences:
        yield f"{one.what}: {plain(one.before) or 'none'} -> {plain(one.after) or 'none'}"
    yield headline(comparison)
    for title, sites in (("gone", comparison.gone), ("new", comparison.new)):
        if sites:
            yield f"\n{title}"
            for site in sites:
                yield f"  {plain(name_of(site))}"
                if site.source:
                    yield f"      {plain(site.source)}"
    if comparison.altered:
        yield "\naltered"
        yield from (f"  {plain(name_of(pair.after))}: {plain(what_changed(pair))}" for pair in comparison.altered)
    rows = [figure_row(figure) for figure in comparison.figures]
    if rows:
        yield ""
        yield from table([("", "before", "after"), *rows], right=(1, 2))


def comparison_markdown(comparison: Comparison) -> str:
    """The comparison as Markdown for a pull request or an issue."""
    template = text_templates(_TEMPLATES).get_template("comparison.md.j2")
    return template.render(
        comparison=comparison,
        headline=headline(comparison),
        rows=[figure_row(figure) for figure in comparison.figures],
        name_of=name_of,
        what_changed=what_changed,
    ).rstrip("\n")


def headline(comparison: Comparison) -> str:
    """The result of the comparison in one line."""
    if not (comparison.gone_sites or comparison.new_sites or comparison.altered):
        things = ("type of break", "types of break") if comparison.by_type else ("site",)
        return f"Nothing changed: {counted(len(comparison.pairs), *things)}."
    parts = [f"{counted(comparison.gone_sites, 'site')} gone", f"{comparison.new_sites} new"]
    parts.append(f"{len(comparison.altered)} altered")
    parts.append(f"{len(comparison.pairs) - len(comparison.altered)} as before")
    return ", ".join(parts) + ("; compared by type, since one run has no lines." if comparison.by_type else ".")


def name_of(site: Site) -> str:
    """The name of a site: `models/net.py:12 in forward, GB0025 as GB7000: the type`."""
    ids = " as ".join(site.gb_ids)
    named = f"{ids}: {site.gb_type}"
    return f"{shown_place(site.file, site.line)} in {site.function}, {named}" if site.file else named


def what_changed(pair: Pair) -> str:
    """The changes of a site: `was at line 12; resumed, was frame skipped; ran 20, was 10`."""
    return "; ".join(_change_phrases(pair))


def _change_phrases(pair: Pair) -> Iterator[str]:
    old, new = pair.before, pair.after
    if old.file != new.file:
        yield f"was at {shown_place(old.file, old.line)}"
    elif old.line != new.line:
        yield f"was at line {old.line}"
    if old.gb_ids != new.gb_ids:
        yield f"was {' as '.join(old.gb_ids)}"
    if pair.kinds_differ:
        yield f"{new.kind}, was {old.kind}"
    if old.sites != new.sites:
        yield f"at {counted(new.sites, 'line')}, was {old.sites}"
    if old.compiled != new.compiled:
        yield f"compiled {counted(new.compiled, 'time')}, was {old.compiled}"
    if pair.ran_differ:
        yield f"ran {new.ran}, was {old.ran}"


def figure_row(figure: Figure) -> tuple[str, str, str]:
    """A row of the table of figures: its name and both numbers as text."""
    return figure.name.replace("_seconds", " time"), _number(figure, figure.before), _number(figure, figure.after)


def _number(figure: Figure, value: float | None) -> str:
    if value is None:
        return "–"
    return seconds(value) if figure.name.endswith("_seconds") else str(value)
