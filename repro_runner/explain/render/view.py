"""The content of a report for all formats: texts in reading order, not escaped yet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from registry.advice import Advice, Advisor, telling_hints
from registry.ids import SITE, page_address
from registry.message_layout import FROM_USER_CODE
from registry.model import Counsel, OtherMessage
from registry.snippets import with_settings
from registry.taxonomy import UNCATEGORISED
from repro_runner.explain.allowed import Judgement
from repro_runner.explain.render import sentences
from repro_runner.explain.render.measures import cost, did_it_compile
from repro_runner.explain.render.source_lines import (
    ChangedLine,
    ExcerptLine,
    Excerpts,
    bare_excerpt,
    changed_lines,
    compare_with_fix,
)
from repro_runner.explain.site import Observed, Recompile, Site, Suggestion
from repro_runner.output.places import in_library, in_package, shown_place
from repro_runner.output.units import seconds

_ASKS_FOR_LOG = re.compile(r"To monitor recompilations, enable TORCH_LOGS=recompiles\.\s*")
_MOVES = re.compile(r"\b(?:before|outside)(?: you call)? the compiled function")
_SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z`])")
_FIRST = re.compile(r"^(?:Or|Otherwise,?|If not,) (\w)")
"""What joins a sentence to the one above."""
UNKNOWN = "unknown"
"""Shown instead of the id of a break without an id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything to show for one run: the report, and the results of further options."""

    report: Observed
    judgement: Judgement | None = None
    """How the sites compare with an allow-list."""
    suggestions: tuple[Suggestion, ...] | None = None
    """What a language model proposes; None if no model was asked."""

    def is_new(self, site: Site) -> bool:
        """Whether there is an allow-list, and it does not allow the site."""
        return self.judgement is not None and site in self.judgement.new

    def suggestion(self, site: Site) -> Suggestion | None:
        """The language model's suggestion for the site, if any."""
        return next((one for one in self.suggestions or () if (one.file, one.line) == (site.file, site.line)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FixView:
    """A fix. `held` says on what it was verified; empty for code that only contains the break."""

    when: str
    held: str
    changes: tuple[ChangedLine, ...]
    code: str
    is_own: bool = False
    """Whether it is on the user's own code, and not on the registry's program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionView:
    """A language model's suggestion, and whether its patch was verified."""

    verified: bool
    verdict: str
    cause: str
    patch: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfaced:
    """The break that a cause was reported as."""

    gb_id: str
    title: str
    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteView:
    """The texts of one site."""

    number: int
    gb_id: str
    title: str
    lead: str
    """What the program does that breaks the graph, in the registry's words; empty if it has none."""
    link: str
    kind: str
    where: str
    function: str
    source: str
    excerpt: tuple[ExcerptLine, ...]
    new: bool
    """Whether there is an allow-list, and it does not allow the site."""
    chain: str
    surfaced: tuple[Surfaced, ...]
    happened: str
    counts: str
    compiled: int
    ran: str
    """A number, or a question mark."""
    lost: str
    cost: str
    """What the break costs while the program runs; empty if nobody asked."""
    recompiles: tuple[str, ...]
    via: tuple[str, ...]
    """The frames that lead to the site, outermost first; empty if the site is in the compiled function itself."""
    explanation: str
    context: str
    raises: str
    """The exception in the user's code that ended the graph; empty if it was none."""
    untraced: str
    """What Dynamo never looked at, and the break that this one follows from."""
    hints: tuple[str, ...]
    fixes_at: int
    """The number of an earlier site that shows the same fixes; 0 if this site shows them."""
    fixes: tuple[FixView, ...]
    isolated: tuple[FixView, ...]
    no_fix: str
    misfit: str
    """Why the page's fix is not shown: it is for something else."""
    unfixed: str
    """Why no fix of the user's own code held; empty if one did, and if none was tried."""
    counsels: tuple[str, ...]
    """What to try for what the message names, besides the fixes."""
    stopped: str
    suggestion: SuggestionView | None
    """None if no model was asked about this site."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryView:
    """The sites of one category of breaks, and the advice for them."""

    share: str
    why: str
    way_out: str
    sites: tuple[SiteView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """A message of torch's that is no graph break."""

    title: str
    what: str
    counts: str
    text: str
    """The first report; empty if there are lines."""
    ways_out: tuple[str, ...]
    link: str
    lines: tuple[str, ...] = ()
    """Of recompiles: each function, and the guard that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """The texts of a whole report."""

    program: str
    environment: str
    sites: tuple[SiteView, ...]
    categories: tuple[CategoryView, ...]
    recompiles: tuple[str, ...]
    """Recompiles of functions without a break."""
    totals: str
    no_breaks: str
    ended: str
    notes: tuple[str, ...]
    messages: tuple[MessageView, ...] = ()
    compiled: tuple[str, ...] = ()
    """How much ran in graphs, and what ran as plain Python."""


def view_report(report: Observed, answers: Advisor, *, folder: Path) -> ReportView:
    """The view of a report alone. Paths are shown relative to `folder`."""
    return view_outcome(Outcome(report=report), answers, folder=folder)


def view_outcome(
    outcome: Outcome, answers: Advisor, *, folder: Path, excerpts: Excerpts | None = None, fullgraph_off: bool = False
) -> ReportView:
    """The view of a report with the results of further options. Without `excerpts`, only the broken line is shown."""
    report, judgement = outcome.report, outcome.judgement
    sites = view_sites(
        report.sites,
        answers,
        torch=report.environment.get("torch", ""),
        folder=folder,
        outcome=outcome,
        excerpts=excerpts or {},
    )
    at_sites = {one for site in report.sites for one in site.recompiles}
    notes = (
        *sentences.processes(report),
        sentences.unlisted(report),
        sentences.not_compared(report),
        sentences.hidden(report, fullgraph_off=fullgraph_off),
        *(judgement.notes if judgement else ()),
    )
    return ReportView(
        program=" ".join((report.program.name, *report.program.arguments)).strip(),
        environment=sentences.environment(report.environment),
        sites=sites,
        categories=view_categories(sites, answers),
        recompiles=tuple(recompile_lines((one for one in report.recompiles if one not in at_sites), folder)),
        totals=sentences.totals(report) + (f" · {len(judgement.new)} not allowed" if judgement else ""),
        no_breaks=sentences.no_breaks(report),
        ended=sentences.ended(report.program),
        notes=tuple(filter(None, notes)),
        compiled=tuple(did_it_compile(report, folder)),
    )


def view_sites(
    sites: Iterable[Site],
    answers: Advisor,
    *,
    torch: str,
    folder: Path,
    outcome: Outcome | None = None,
    excerpts: Excerpts | None = None,
) -> tuple[SiteView, ...]:
    """The view of each site, with the registry's answers for the release `torch`."""
    views: list[SiteView] = []
    shown_at: dict[object, int] = {}  # not where a fix of the user's own code is shown, maybe alone
    for number, site in enumerate(sites, 1):
        known = find_advice(site, answers, torch=torch)
        cause = next((one for one in known if one.gb_id == site.gb_id), None)
        other = find_other_message(site, answers)
        # The user has to fix the cause. The break that it was reported as helps only if nothing is known for the cause.
        helpful = next((one for one in known if one.fixes or one.counsels or one.misfit), cause)
        own_fix = tuple(_own_fix_views(site))
        first = shown_at.setdefault(_shown_ways_out(helpful), number) if not own_fix else number
        views.append(
            SiteView(
                number=number,
                gb_id=other.slug if other else site.gb_id or UNKNOWN,
                title=other.title if other else site.gb_type,
                lead=f"This is not a graph break: {other.short}" if other else cause.lead if cause else "",
                link=message_address(other) if other else page_address(site.gb_id) if site.gb_id else "",
                kind=site.kind,
                where=sentences.where(site, folder),
                function=site.function or sentences.NO_FUNCTION,
                source=site.source.strip(),
                excerpt=(excerpts or {}).get(site) or bare_excerpt(site),
                new=outcome is not None and outcome.is_new(site),
                chain=sentences.chain(site),
                surfaced=tuple(_surfaced(site)),
                happened=sentences.happened(site),
                counts=sentences.counts(site),
                compiled=site.compiled,
                ran=sentences.ran(site),
                lost=seconds(site.lost_seconds) if site.lost_seconds > 0 else "–",
                cost=cost(site),
                recompiles=sentences.recompiles(site.recompiles),
                via=tuple(f"{shown_place(one.file, one.line, folder)} in {one.function}" for one in site.stack[:-1]),
                explanation=_explanation(site, cause, other),
                context=site.context.strip(),
                raises=sentences.raises(site),
                untraced=sentences.untraced(site, folder),
                hints=telling_hints(_hints(site) or _whole_hints(cause)),
                fixes_at=0 if first == number else first,
                fixes=(*own_fix, *(_fix_views(helpful) if helpful else ())),
                isolated=tuple(_containments(helpful)) if helpful else (),
                no_fix=helpful.no_fix if helpful else "",
                misfit=helpful.misfit if helpful else "",
                unfixed=site.own_fix.why_none if site.own_fix else "",
                counsels=other.ways_out if other else tuple(_counsels(helpful)) if helpful else (),
                stopped="; ".join(filter(None, (sentences.old_words(site, torch), _newer(site, helpful)))),
                suggestion=_suggestion_view(outcome.suggestion(site)) if outcome else None,
            )
        )
    return tuple(views)


def _shown_ways_out(answer: Advice | None) -> object:
    return (answer.gb_id, answer.fixes, answer.counsels) if answer else object()


def find_advice(site: Site, answers: Advisor, *, torch: str) -> list[Advice]:
    """What the registry knows of each id of a site, for what torch said there."""
    known = (answers.advise(gb_id, torch=torch, message=site.message, guards=site.guards) for gb_id in site.gb_ids)
    return [_of_library(one, site) for one in known if one is not None]


def _of_library(answer: Advice, site: Site) -> Advice:
    """Without advice to move a call, if the call is in a library: its user can't move it there."""
    if not in_package(Path(site.file)) or not any(_MOVES.search(one.text) for one in answer.counsels):
        return answer
    own = next((one for one in reversed(site.stack) if not in_library(Path(one.file))), None)
    text = (
        "This line is in a library. If you can't change it, look for an argument or an option of the library that "
        "avoids it, or compile smaller parts that don't reach it."
    ) + (f" Your line that leads there is `{shown_place(own.file, own.line)}`." if own else "")
    kept = (replace(one, text=_without_moves(one.text)) for one in answer.counsels)
    return replace(answer, counsels=(*(one for one in kept if one.text), Counsel(globs=("*",), text=text)))


def _without_moves(text: str) -> str:
    """Its sentences, but those that move a call, and what only goes on from these."""
    kept: list[str] = []
    left_out = False
    for sentence in _SENTENCE_END.split(text):
        left_out = bool(_MOVES.search(sentence)) or (
            left_out and sentence.startswith(("It ", "That ", "Then ", "They "))
        )
        if not left_out:
            kept.append(sentence if kept else _FIRST.sub(lambda found: found[1].upper(), sentence))
    return " ".join(kept)


def _surfaced(site: Site) -> Iterator[Surfaced]:
    for gb_id, title in list(zip(site.gb_ids, site.gb_types, strict=False))[1:]:
        yield Surfaced(gb_id=gb_id, title=title, link=page_address(gb_id))


def find_other_message(site: Site, answers: Advisor) -> OtherMessage | None:
    """The page of an error that is no graph break, such as a `UserError`; None for a break."""
    return answers.find_message(site.gb_ids, f"{site.gb_type}\n{site.message}")


def message_address(message: OtherMessage) -> str:
    """Where its page is."""
    return f"{SITE}/{message.page}"


def _explanation(site: Site, cause: Advice | None, other: OtherMessage | None) -> str:
    """torch's words on this break. Without them the registry's; of an error, what it says above the frames."""
    if other:
        return site.message.partition(FROM_USER_CODE[0])[0].strip()
    return sentences.explanation(site) or _whole(cause.explanation if cause else "")


def _hints(site: Site) -> tuple[str, ...]:
    """torch's hints, without the request for a log of the guards that this report has."""
    return tuple(_ASKS_FOR_LOG.sub("", hint) if site.guards else hint for hint in site.hints)


def _whole_hints(answer: Advice | None) -> tuple[str, ...]:
    """The registry's hints without those that have placeholders, which only torch can fill in."""
    return tuple(hint for hint in answer.hints if _whole(hint)) if answer else ()


def _whole(text: str) -> str:
    """A text of the registry, unless it has placeholders."""
    return "" if "{" in text else text


def _counsels(answer: Advice) -> Iterator[str]:
    """What to try for what the message names; where nothing is known, the ways out of the category."""
    yield from (one.text for one in answer.counsels)
    if answer.misfit and not answer.counsels and answer.category != UNCATEGORISED:
        yield answer.category.way_out


def _own_fix_views(site: Site) -> Iterator[FixView]:
    if site.own_fix and site.own_fix.title:
        when, held = sentences.own_fix(site.own_fix)
        yield FixView(when=when, held=held, changes=tuple(changed_lines(site.own_fix.diff)), code="", is_own=True)


def _fix_views(answer: Advice) -> Iterator[FixView]:
    for fix in answer.fixes:
        code = with_settings(fix.settings, fix.code)
        held = f"on the registry's program; held on torch {fix.verified_on}"
        yield FixView(when=fix.caption, held=held, changes=compare_with_fix(answer.broken, fix), code=code)


def _containments(answer: Advice) -> Iterator[FixView]:
    return (FixView(when=when, held="", changes=(), code=code) for when, code in answer.isolated)


def _newer(site: Site, answer: Advice | None) -> str:
    """What our own runs say about a newer torch. That a program still breaks is said to those whose torch is old."""
    if answer is None or site.gone:
        return ""
    if answer.stopped_in:
        return (
            f"the registry's program for {answer.gb_id} stopped breaking in torch {answer.stopped_in}: yours may, too"
        )
    if site.worded_by and answer.breaks_in:
        return f"the registry's program for {answer.gb_id} still breaks in torch {answer.breaks_in}"
    return ""


def _suggestion_view(suggestion: Suggestion | None) -> SuggestionView | None:
    if suggestion is None:
        return None
    return SuggestionView(
        verified=sentences.verified(suggestion),
        verdict=sentences.suggested(suggestion),
        cause=suggestion.cause,
        patch=suggestion.patch.rstrip("\n"),
    )


def view_categories(sites: Sequence[SiteView], answers: Advisor) -> tuple[CategoryView, ...]:
    """The sites by category. The category with the most sites comes first."""
    return tuple(
        CategoryView(
            share=sentences.share(category, len(gb_ids), len(sites)),
            why=category.why if category != UNCATEGORISED else "",
            way_out=category.way_out if category != UNCATEGORISED else "",  # for maintainers
            sites=tuple(site for site in sites if site.gb_id in gb_ids),
        )
        for category, gb_ids in answers.by_category(site.gb_id for site in sites).items()
    )


def recompile_lines(recompiles: Iterable[Recompile], folder: Path) -> Iterator[str]:
    """A line for each function and guard: what was compiled again, how often, and why."""
    found: Counter[tuple[str, str, str]] = Counter(
        (one.function, shown_place(one.file, one.line, folder), " ".join(one.guard.split())) for one in recompiles
    )
    for (function, where, guard), times in found.items():
        yield f"{function} ({where}) recompiled {times}×: {guard or 'torch names no guard'}"
