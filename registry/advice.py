"""What to tell somebody who has hit a break: the registry's text, fixes that hold, whether a newer torch traces it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from registry.fits import find_subject, is_one_of
from registry.ids import page_address
from registry.matching import Matcher
from registry.message_layout import ASKS_FOR_A_REPORT, OF_MANY_BREAKS
from registry.model import Category, Counsel, Evidence, Example, Fits, GraphBreak, OtherMessage, Registry, Repro
from registry.snippets import Snippet, take_apart
from registry.source_text import is_source_code
from registry.taxonomy import UNCATEGORISED
from registry.versions import version_key

RECOMPILE_LIMIT = "GB0039"
_TO_ALL = ("*",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A way out that was run: it compiles whole and equals eager."""

    name: str
    when: str
    """When to choose it."""
    kind: str
    """rewrite, flag or custom op."""
    code: str
    verified_on: str
    """The torch release it held on: the asker's, or else the nearest that was tried."""
    settings: str = ""
    """For a flag: the line that sets it."""
    limits: tuple[str, ...] = ()
    """Inputs for which it does not do the same, a sentence each."""

    @property
    def caption(self) -> str:
        """When to choose it, and where it does not hold."""
        return " ".join((self.when, *self.limits))


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """All that is known of one id."""

    gb_id: str
    gb_type: str
    link: str
    lead: str
    """One sentence on the smallest program; empty where there is none."""
    explanation: str
    """The registry's; empty where that is not text but Python which torch evaluates."""
    hints: tuple[str, ...]
    """All of the registry's; `telling_hints` chooses."""
    category: Category
    broken: str
    """The smallest program's function that breaks."""
    fixes: tuple[Fix, ...]
    """Those that held in the run nearest to the asker's release."""
    isolated: tuple[tuple[str, str], ...]
    """(when to choose it, code): what keeps the break, but contains it."""
    no_fix: str
    """Why there is none, where that is known."""
    stopped_in: str
    """The first torch release, newer than the asker's, since which the program no longer breaks; empty if it breaks in
    the newest that was run, or if the message names something else than the program does."""
    breaks_in: str
    """The newest release in which the program was run, if it breaks there; else empty."""
    counsels: tuple[Counsel, ...] = ()
    """What to try for what the asker's message names."""
    tested: tuple[str, ...] = ()
    """What the id's other programs have, of which a fix held, by the names of `Fits`."""
    misfit: str = ""
    """Why no fix is shown, though the page has one: it is for something else than the message names."""


class Advisor:
    """Gives advice by id. Repros are taken apart when asked for: a program hits few of them."""

    def __init__(self, registry: Registry) -> None:
        self._breaks = {gb.gb_id: gb for gb in registry}
        self._categories = {category.key: category for category in registry.categories}
        self._fits = registry.fits
        self._messages = {one.slug: one for one in registry.other_messages}
        self._registry = registry

    def advise(self, gb_id: str, *, torch: str, message: str = "", guards: Sequence[str] = ()) -> Advice | None:
        """What is known of the id, for a user of this torch release; None if the registry does not have the id.

        Of the fixes, only those that fit the message; all of them without one. `guards` are those that failed before
        the recompile limit, in torch's words; each of them gets advice.
        """
        gb = self._breaks.get(gb_id)
        if gb is None:
            return None
        example = _advised(gb)
        repro = example.repro if example else None
        program = take_apart(repro) if repro else None
        fixes = tuple(_held(example, torch)) if example else ()
        advice = Advice(
            gb_id=gb_id,
            gb_type=gb.gb_type,
            link=page_address(gb_id),
            lead=repro.lead if repro else "",
            explanation="" if is_source_code(gb.newest.explanation) else gb.newest.explanation,
            hints=tuple("".join(hint) for hint in gb.revisions[0].hints),
            category=self._categories.get(gb.category, UNCATEGORISED),
            broken=program.broken.code if program else "",
            fixes=fixes,
            isolated=tuple((one.when, one.code) for one in program.isolated) if program else (),
            no_fix=(example.repro.no_fix or ("" if fixes else _refused(example, torch))) if example else "",
            stopped_in=_stopped_in(gb, torch),
            breaks_in=_breaks_in(gb),
        )
        fits = self._fits.get(gb_id)
        advice = replace(advice, tested=_tested(gb, fits)) if fits else advice
        return choose(advice, fits, message, guards) if fits and message else advice

    def on_recompiles(self, guards: Iterable[str]) -> tuple[str, ...]:
        """What to try about these guards that failed; empty if nothing is known for any of them."""
        fits = self._fits.get(RECOMPILE_LIMIT)
        return tuple(one.text for one in _counsels_for(fits, guards) if one.globs != _TO_ALL) if fits else ()

    def other_message(self, slug: str) -> OtherMessage:
        """The entry of a message that is not a graph break; KeyError if there is no such slug."""
        return self._messages[slug]

    def find_message(self, gb_ids: Sequence[str], text: str) -> OtherMessage | None:
        """The message that an error is whose ids the registry does not have; None if it is not known, either."""
        if any(gb_id in self._breaks for gb_id in gb_ids):
            return None
        match = self._matcher.match_message(text)
        return self._messages.get(match.form.slug) if match and match.form else None

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher.from_registry(self._registry)

    def by_category(self, gb_ids: Iterable[str]) -> dict[Category, list[str]]:
        """The ids under their categories, the fullest first; an id counts as often as it is given."""
        found: dict[Category, list[str]] = {}
        for gb_id in gb_ids:
            gb = self._breaks.get(gb_id)
            category = self._categories.get(gb.category, UNCATEGORISED) if gb else UNCATEGORISED
            found.setdefault(category, []).append(gb_id)
        return dict(sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0].title)))


def advice_of(registry: Registry) -> dict[str, Advice]:
    """By id, for a user of no particular torch release."""
    advisor = Advisor(registry)
    found = {gb.gb_id: advisor.advise(gb.gb_id, torch="") for gb in registry}
    return {gb_id: advice for gb_id, advice in found.items() if advice}


def choose(advice: Advice, fits: Fits, message: str, guards: Sequence[str] = ()) -> Advice:
    """Keep the fixes that are right for what the message names, and add what else is known for it and the guards."""
    subject = find_subject(fits, message)
    if not subject:
        return advice
    fixes = tuple(fix for fix in advice.fixes if is_one_of(subject, fits.fixes.get(fix.name, ("*",))))
    counsels = _counsels_for(fits, [*guards, subject])
    special = [one for one in counsels if one.globs != _TO_ALL]
    if fixes or special:  # what is said to all others is not said to those who have a fix, or better advice
        counsels = special
    others = {glob for fix in advice.fixes for glob in fits.fixes.get(fix.name, ())}
    tested = fixes or subject in advice.tested or any(one.program for one in counsels)
    misfit = f"No tested fix for your `{subject}`." if others and not tested else ""
    stopped_in = advice.stopped_in if fixes or not others else ""
    return replace(advice, fixes=fixes, counsels=tuple(counsels), misfit=misfit, stopped_in=stopped_in)


def _counsels_for(fits: Fits, said: Iterable[str]) -> list[Counsel]:
    """The advice that fits most of what was said, then the others; each text gets the first that fits it."""
    subjects = (find_subject(fits, text) or text for text in said)
    found = (next((one for one in fits.counsels if is_one_of(subject, one.globs)), None) for subject in subjects)
    return [one for one, _ in Counter(filter(None, found)).most_common()]


def telling_hints(hints: Iterable[str]) -> tuple[str, ...]:
    """Those about this very break, then those that many breaks share; one that only asks for a report is left out."""
    kept = [hint for hint in hints if hint.strip() and not hint.startswith(ASKS_FOR_A_REPORT)]
    return tuple(sorted(kept, key=lambda hint: hint.startswith(OF_MANY_BREAKS)))


def _advised(gb: GraphBreak) -> Example | None:
    """The program whose fixes are told: the id's first, or, if that can't have one, what people meet most."""
    first = next(iter(gb.programs), None)
    if first is None or not first.repro.no_fix:
        return first
    by_name = {one.repro.name: one for one in gb.programs}
    return next((by_name[name] for name in first.repro.order if not by_name[name].repro.no_fix), first)


def _held(example: Example, torch: str) -> Iterator[Fix]:
    """Those that held where they were run last; one that was never run is not offered."""
    for snippet in take_apart(example.repro).fixes:
        nearest = _nearest_run(example, torch, fix=snippet.name)
        if nearest is not None and nearest.fixes[snippet.name]:
            yield _fix(example.repro, snippet, nearest)


def _refused(example: Example, torch: str) -> str:
    """That a fix held in another release, and not in the asker's; empty if none did."""
    for fix in sorted(set().union(*(seen.fixes for seen in example.fresh_evidence))):
        nearest = _nearest_run(example, torch, fix=fix)
        held = {one.environment.torch for one in example.fresh_evidence if one.fixes.get(fix)}
        if nearest is not None and held and not nearest.fixes[fix]:
            last, here = max(held, key=_order), nearest.environment.torch
            return f"The fix of its page holds on torch {last}, and not on {here}."
    return ""


def _fix(repro: Repro, snippet: Snippet, run: Evidence) -> Fix:
    return Fix(
        name=snippet.name,
        when=snippet.when,
        kind=snippet.kind,
        code=snippet.code,
        verified_on=run.environment.torch,
        settings=snippet.settings,
        limits=repro.limits_of(snippet.name),
    )


def _nearest_run(example: Example, torch: str, *, fix: str) -> Evidence | None:
    """Of the runs in which the program broke and the fix was tried: the newest up to this release, else the oldest.

    Who does not know the release gets the newest.
    """
    runs = [one for one in example.fresh_evidence if fix in one.fixes and one.shows_it]
    runs.sort(key=lambda one: _order(one.environment.torch))
    mine = _order(torch)
    up_to_mine = [one for one in runs if not mine or _order(one.environment.torch) <= mine]
    return next(iter([*up_to_mine[-1:], *runs]), None)


def _tested(gb: GraphBreak, fits: Fits) -> tuple[str, ...]:
    runs = [seen for program in gb.examples for seen in program.fresh_evidence if any(seen.fixes.values())]
    return tuple(sorted({find_subject(fits, seen.message) for seen in runs} - {""}))


def _stopped_in(gb: GraphBreak, torch: str) -> str:
    mine = _order(torch)
    since = takewhile(lambda release: gb.verdict_in(release) == "stopped", _newest_first(gb))
    return min((release for release in since if _order(release) > mine), key=_order, default="")


def _breaks_in(gb: GraphBreak) -> str:
    newest = next(iter(_newest_first(gb)), "")
    best = gb.best_run(newest) if newest else None
    return newest if best and best.shows_it else ""


def _newest_first(gb: GraphBreak) -> list[str]:
    """The releases in which a program of it was run."""
    return sorted({seen.environment.torch for seen in gb.best_evidence}, key=_order, reverse=True)


def _order(torch: str) -> tuple[int, ...]:
    """Of a build such as 2.13.0+cu128 or 2.15.0a0+git1234, the release it is or leads to."""
    return version_key(torch)[:3]
