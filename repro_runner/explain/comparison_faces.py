"""A comparison as text for a terminal, as Markdown and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from repro_runner.explain.comparison import Comparison, Figure, Pair
from repro_runner.explain.site import Site
from repro_runner.output.terminal import plain, table
from repro_runner.output.units import counted, seconds

_TEMPLATES = Path(__file__).parent / "templates"


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "kind": "comparison",
        "schema": 1,
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
    """For a terminal."""
    return "\n".join(_lines(comparison))


def _lines(comparison: Comparison) -> Iterator[str]:
    for one in comparison.differences:
        yield f"{one.what}: {plain(one.before) or 'none'} -> {plain(one.after) or 'none'}"
    yield headline(comparison)
    for title, places in (("gone", comparison.gone), ("new", comparison.new)):
        if places:
            yield f"\n{title}"
            for place in places:
                yield f"  {plain(name_of(place))}"
                if place.source:
                    yield f"      {plain(place.source)}"
    if comparison.altered:
        yield "\naltered"
        yield from (f"  {plain(name_of(pair.after))}: {plain(what_changed(pair))}" for pair in comparison.altered)
    rows = [figure_row(figure) for figure in comparison.figures]
    if rows:
        yield ""
        yield from table([("", "before", "after"), *rows], right=(1, 2))


def comparison_markdown(comparison: Comparison) -> str:
    """For a pull request or an issue."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=False,  # every text of a user goes through `code`, in which nothing means anything
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["code"] = _code_span
    template = environment.get_template("comparison.md.j2")
    return template.render(
        comparison=comparison,
        headline=headline(comparison),
        rows=[figure_row(figure) for figure in comparison.figures],
        name_of=name_of,
        what_changed=what_changed,
    ).rstrip("\n")


def headline(comparison: Comparison) -> str:
    """The outcome in one line."""
    if not (comparison.gone_sites or comparison.new_sites or comparison.altered):
        things = ("type of break", "types of break") if comparison.by_type else ("site",)
        return f"Nothing changed: {counted(len(comparison.pairs), *things)}."
    parts = [f"{counted(comparison.gone_sites, 'site')} gone", f"{comparison.new_sites} new"]
    parts.append(f"{len(comparison.altered)} altered")
    parts.append(f"{len(comparison.pairs) - len(comparison.altered)} as before")
    return ", ".join(parts) + ("; compared by type, since one run has no lines." if comparison.by_type else ".")


def name_of(place: Site) -> str:
    """`models/net.py:12 in forward, GB0025 as GB7000: the type`."""
    ids = " as ".join(place.gb_ids)
    named = f"{ids}: {place.gb_type}"
    return f"{_shown(place.file)}:{place.line} in {place.function}, {named}" if place.file else named


def what_changed(pair: Pair) -> str:
    """`moved from line 12; resumed, was frame skipped; ran 20 times, not 10`."""
    return "; ".join(_changes(pair))


def _changes(pair: Pair) -> Iterator[str]:
    old, new = pair.before, pair.after
    if old.file != new.file:
        yield f"was at {_shown(old.file)}:{old.line}"
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
    """Its name and both numbers as people write them."""
    return figure.name.replace("_seconds", " time"), _number(figure, figure.before), _number(figure, figure.after)


def _number(figure: Figure, value: float | None) -> str:
    if value is None:
        return "–"
    return seconds(value) if figure.name.endswith("_seconds") else str(value)


def _shown(file: str) -> str:
    """Short, and still enough to find it."""
    _, installed, package = file.rpartition("site-packages/")
    if installed:
        return package
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        return file


def _code_span(text: str) -> str:
    """Markdown's code in a line, whatever stands in the text."""
    text = plain(text)
    marks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    return f"{marks} {text} {marks}" if "`" in text or text != text.strip() else f"{marks}{text}{marks}"
