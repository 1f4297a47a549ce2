"""Render a report for a terminal: every site looks like a compiler error, with fixes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from repro_runner.explain.render.source_lines import ExcerptLine
from repro_runner.explain.render.view import FixView, MessageView, ReportView, SiteView, SuggestionView
from repro_runner.output.terminal import plain
from repro_runner.output.units import counted

_STYLES = {"resumed": "yellow", "frame skipped": "magenta", "fatal": "bold red"}
_WIDEST = 110
_MOST_FIXES = 2
_MOST_WAYS = 3
_MOST_LINES = 4
_MOST_AGAIN = 12
_MOST_FRAMES = 4
_LEAST_CODE = 12
"""A summary keeps at least this many columns for the line of code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The terminal that shows the text. Without a colour system the text is plain."""

    width: int = 80
    colours: str | None = None


def screen_of(stream: TextIO) -> Screen:
    """The width and colours of a stream. Colours are used only on a terminal, and not with NO_COLOR."""
    console = Console(file=stream)
    colours = console.color_system if console.is_terminal and not console.no_color else None
    return Screen(width=console.width, colours=colours)


def render_terminal(view: ReportView, screen: Screen, *, summary: bool = False) -> str:
    """The whole report, or its summary by category."""
    console = Console(
        file=io.StringIO(),
        width=screen.width,
        force_terminal=screen.colours is not None,
        force_jupyter=False,  # there, rich would show the text itself and return nothing
        color_system=screen.colours,  # type: ignore[arg-type]
        no_color=screen.colours is None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    width = min(screen.width, _WIDEST)
    console.print(_title(view), width=width)
    console.print()
    for block in _summary(view, width) if summary else _sites(view, width):
        console.print(block, width=width)
        console.print()
    if view.compiled:
        console.print(_listed("did it compile?", view.compiled), width=width)
        console.print()
    for block in _closing(view):
        console.print(block, width=width)
    assert isinstance(console.file, io.StringIO)
    # rich fills the lines of a table with spaces. They are needed only for colours.
    text = console.file.getvalue()
    return text if screen.colours else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _title(view: ReportView) -> Text:
    title = Text("graph breaks", style="bold")
    if view.program:
        title.append(f" of {plain(view.program)}")
    return title.append(f" ({plain(view.environment)})" if view.environment else "", "not bold dim")


def _sites(view: ReportView, width: int) -> Iterator[RenderableType]:
    for site in view.sites:
        yield Group(_heading(site), _excerpt(site.excerpt, width), _facts(_labelled(site, view), width))
    for message in view.messages:
        heading = Text.assemble(("not a graph break", "yellow"), "  ", (plain(message.title), "bold"))
        yield Group(heading, _facts(_message(message), width))
    if view.recompiles:
        yield _listed("recompiled without a break", view.recompiles)


def _listed(title: str, lines: Iterable[str]) -> Group:
    return Group(Text(title, style="bold"), *(Padding(Text(plain(line)), (0, 0, 0, 2)) for line in lines))


def _heading(site: SiteView) -> Text:
    return Text.assemble(
        (site.gb_id, f"bold {_STYLES.get(site.kind, '')}"),
        " ",
        (site.kind, _STYLES.get(site.kind, "")),
        "  ",
        (plain(site.where), "bold"),
        f" in {plain(site.function)}",
        *([("  NEW", "bold red")] if site.new else []),
        "\n",
        (plain(site.title), "bold"),
    )


def _excerpt(lines: tuple[ExcerptLine, ...], width: int) -> Text:
    """The source lines, with marks under what breaks. Long lines are cut, because wrapped code misleads."""
    digits = max((len(str(line.number)) for line in lines), default=1)
    room = max(width - digits - 4, 10)
    text = Text()
    for line in lines:
        shown = plain(line.text)
        shown = shown if len(shown) <= room else f"{shown[: room - 1]}…"
        text.append(f"\n{line.number:>{digits + 1}} | ", "blue")
        text.append(shown, "bold" if line.breaks else "dim")
        if line.breaks and shown.strip():
            text.append(f"\n{'':>{digits + 1}} | ", "blue")
            text.append(_underlined(line, shown), "bold red")
    text.append("\n")
    return text


def _underlined(line: ExcerptLine, shown: str) -> str:
    """A row of `^` under what breaks. If that part was cut off, under the last character."""
    row = [" "] * cell_len(shown)
    indent = len(line.text) - len(line.text.lstrip())
    for start, end in line.marks or ((indent, len(line.text)),):
        first, last = (min(cell_len(plain(line.text[:at])), len(row)) for at in (start, end))
        row[first:last] = "^" * (last - first)
    return "".join(row).rstrip() or "^".rjust(len(row))


def _facts(labelled: Iterable[tuple[str, RenderableType]], width: int) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=7, style="cyan", no_wrap=True)
    grid.add_column(width=width - 8, overflow="fold")
    for label, fact in labelled:
        grid.add_row(label, fact)
    return grid


def _message(message: MessageView) -> Iterator[tuple[str, RenderableType]]:
    yield "what", Text(plain(message.what))
    yield "often", Text(plain(message.counts))
    if message.text:
        yield "text", _shortened(message.text)
    yield from (("again", Text(plain(line))) for line in message.lines[:_MOST_AGAIN])
    if more := len(message.lines[_MOST_AGAIN:]):
        yield "", Text(f"and {more} more; --format json has them all")
    yield from (("try", Text(plain(text), style="green")) for text in message.ways_out[:_MOST_WAYS])
    yield "page", Text(message.link, style="blue")


def _labelled(site: SiteView, view: ReportView) -> Iterator[tuple[str, RenderableType]]:
    yield "what", Text(plain(site.happened))
    if site.chain:
        yield "chain", Text(plain(f"{site.chain} ({', '.join(one.title for one in site.surfaced)})"))
    yield "often", Text(plain(site.counts))
    if site.cost:
        yield "cost", Text(plain(site.cost), style="bold")
    yield from (("again", Text(plain(line))) for line in site.recompiles)
    if site.via:
        left_out = ["…"] if len(site.via) > _MOST_FRAMES else []
        yield "via", Text(plain(" → ".join([*left_out, *site.via[-_MOST_FRAMES:], "here"])))
    if site.untraced:
        yield "note", Text(plain(site.untraced))
    if site.raises:
        yield "raises", Text(plain(site.raises), style="bold")
    if site.explanation:
        yield "why", _shortened(site.explanation)
    if site.context and not site.raises:
        yield "context", _shortened(site.context)
    yield from (("hint", _shortened(hint)) for hint in site.hints)
    yield from _ways_out(site, view)
    if site.suggestion:
        yield "model", _suggestion(site.suggestion)
    if site.stopped:
        yield "newer", Text(plain(site.stopped))
    links = [site.link, *(one.link for one in site.surfaced)]
    yield from (("page", Text(link, style="blue")) for link in links if link)


def _shortened(text: str) -> Text:
    lines = [plain(line.rstrip()) for line in text.strip().splitlines()]
    return Text("\n".join(lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], "…"]))


def _ways_out(site: SiteView, view: ReportView) -> Iterator[tuple[str, RenderableType]]:
    if site.fixes_at and (site.fixes or site.isolated):
        if site.unfixed:
            yield "tried", Text(plain(f"no fix of your own code held: {site.unfixed}"))
        what = "the page's fix" if site.fixes else "what contains it"
        yield "see", Text(plain(f"{view.sites[site.fixes_at - 1].where}, above: {what} is shown there"))
        return
    most = 1 if site.fixes[:1] and site.fixes[0].is_own else _MOST_FIXES
    for fix in site.fixes[:most]:
        yield "fix", _fix_block(fix)
    if more := len(site.fixes[most:]):
        yield "", Text(f"the page has {counted(more, 'more fix', 'more fixes')}")
    if site.unfixed:
        yield "tried", Text(plain(f"no fix of your own code held: {site.unfixed}"))
    if not site.fixes and (site.misfit or site.no_fix):
        yield "no fix", Text(plain(site.misfit or site.no_fix))
    yield from (("try", Text(plain(text), style="green")) for text in site.counsels[:_MOST_WAYS])
    if not site.fixes:
        for fix in site.isolated[:1]:
            yield "contain", _fix_block(fix)


def _suggestion(suggestion: SuggestionView) -> RenderableType:
    text = Text(plain(suggestion.verdict), style="green" if suggestion.verified else "yellow")
    if suggestion.cause:
        text.append("\n").append(_shortened(suggestion.cause))
    for line in suggestion.patch.splitlines():
        text.append(f"\n{plain(line)}", {"-": "red", "+": "green"}.get(line[:1], "dim"))
    return text


def _fix_block(fix: FixView) -> RenderableType:
    title = Text(plain(fix.when), style="green")
    if fix.held:
        title.append(f" ({plain(fix.held)})", "dim")
    return Group(title, _fix_code(fix))


def _fix_code(fix: FixView) -> Text:
    """The diff of a fix in colours, whole. A way to contain a break has no diff, so its code is shown."""
    marked = [(one.mark, one.text) for one in fix.changes] or [(" ", line) for line in fix.code.splitlines()]
    text = Text(overflow="fold")
    for mark, line in marked:
        shown = Text(plain(line), style="red") if mark == "-" else _python(plain(line))
        text.append(f"\n{mark} " if text else f"{mark} ", {"-": "red", "+": "bold green"}.get(mark, ""))
        text.append(shown)
    return text


def _python(line: str) -> Text:
    code = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(line)
    code.rstrip()
    return code


def _summary(view: ReportView, width: int) -> Iterator[RenderableType]:
    for category in view.categories:
        way_out = [Padding(Text(category.way_out), (0, 0, 1, 2))] if category.way_out else []
        rows = Padding(_rows(category.sites, width - 2), (0, 0, 0, 2))
        yield Group(Text(f"{category.share}:", style="bold"), *way_out, rows)


def _rows(sites: tuple[SiteView, ...], width: int) -> Table:
    """A table with one line per site. The place gets the width that it needs, the code gets the rest."""
    cells = [tuple(map(plain, (site.gb_id, site.where, site.kind, site.source))) for site in sites]
    ids, places, kinds, _ = (max(map(cell_len, column)) for column in zip(*cells, strict=True))
    room = max(width - ids - kinds - 6, 2 * _LEAST_CODE)
    places = min(places, room - _LEAST_CODE)
    rows = Table.grid(padding=(0, 2))
    rows.add_column(no_wrap=True, style="yellow")
    rows.add_column(overflow="fold", width=places)
    rows.add_column(no_wrap=True)
    rows.add_column(no_wrap=True, overflow="ellipsis", style="dim", width=room - places)
    for row in cells:
        rows.add_row(*map(Text, row))
    return rows


def _closing(view: ReportView) -> Iterator[RenderableType]:
    if view.no_breaks:
        yield Text(view.no_breaks, style="bold")
    yield from (Text(f"note: {plain(note)}", style="cyan") for note in view.notes)
    if view.ended:
        yield Text(plain(view.ended), style="bold red")
    yield Text(view.totals, style="bold")
