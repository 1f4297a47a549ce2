"""A site in a few lines, for a failed test and for the formats of CI: where, what, the fix, the page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from repro_runner.explain.render.view import SiteView
from repro_runner.output.terminal import plain

_MOST_CODE = 16
"""Lines of the registry's fix that are shown; the page has all."""
_MOST_WAYS = 2
_WIDTH = 100


def brief_text(site: SiteView) -> str:
    """The text of a site, without control characters. Sentences are wrapped, code is not."""
    return "\n".join(_lines(site))


def headline(site: SiteView) -> str:
    """What breaks the graph, in one sentence."""
    return plain(f"{site.gb_id}: {site.title}" + (f". {site.lead}" if site.lead else ""))


def _lines(site: SiteView) -> Iterator[str]:
    yield plain(f"{site.where} in {site.function}")
    yield from (f"    {plain(line.text.strip())}" for line in site.excerpt if line.breaks)
    yield f"  {site.gb_id}: {plain(site.title)}"
    yield from _wrapped(site.lead)
    for fix in site.fixes[:1]:
        yield from _wrapped(f"fix: {fix.when}" + (f" ({fix.held})" if fix.held else ""))
        code = [f"{one.mark} {one.text}".rstrip() for one in fix.changes] or fix.code.splitlines()
        most = len(code) if fix.is_own else _MOST_CODE
        yield from (f"      {plain(line)}" for line in code[:most])
        if len(code) > most:
            yield "      …"
    if not site.fixes:
        yield from _wrapped(f"no fix: {why}" if (why := site.misfit or site.no_fix) else "")
        for text in site.counsels[:_MOST_WAYS]:
            yield from _wrapped(f"try: {text}")
    yield from _wrapped(f"newer torch: {site.stopped}" if site.stopped else "")
    if site.link:
        yield f"  {site.link}"


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(plain(sentence), _WIDTH, initial_indent="  ", subsequent_indent="  ")
