"""From the text of a message, or of a whole log, to gb_id: for all wordings of all releases.

Four ways, strongest first: the link torch prints; the gb_type, exactly; the explanation and the context, whose
`{placeholders}` stand for any text; and the forms of registry.forms, which have none of torch's layout. No placeholder
is ever retried, so the time grows with the text and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from registry.forms import find_form, forms_within
from registry.message_layout import (
    FRAME,
    GUARD,
    LABEL,
    LITERAL,
    PYTEST,
    RECOMPILED,
    SHARED_HINTS,
    is_marked,
    read_line,
    strip_markers,
)
from registry.messages import FOREIGN_LINES, Draft, ParsedMessage, find_drafts, split_lines, unlabelled
from registry.model import Form, Registry
from registry.templates import DISTINCTIVE, Kind, collapse
from registry.vocabulary import Wording, collect_vocabulary

How = Literal["link", "type", "wording", "form", "shared", "none"]
"""shared: torch prints this line for so many breaks that it names none."""
SHORT = 100_000
"""Characters: a longer text is a log, and its lines are not looked up one by one."""
QUOTED = re.compile(r"""["'`]([^"'`\n]{8,200})["'`]""")
"""What stands in quotes; means the same in JavaScript."""
AROUND_TITLES = "\"'.*#"
"""Quotes, Markdown, and the dots that pytest prints for tests."""
CHAINED_LINES = 200
"""A cause may stand as far before the exception that wraps it: tracebacks lie between."""
CAUSE_AFTER = 60
"""Or as far behind it."""
WHOLE_LINES = 12
"""A text with more lines is no explanation or context as a whole."""
MOST_CANDIDATES = 5


LIBRARIES = re.compile(r"(?:site|dist)-packages/|/lib/python3|/torch/|/triton/|/sympy/")
"""In the path of code that is not the user's; means the same in JavaScript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A message, and the ids it may have: likeliest first, none when nobody knows it."""

    gb_ids: tuple[str, ...]
    how: How
    message: ParsedMessage
    line: int = 1
    """Which line of the text gives its reason or, without one, its explanation; from 1."""
    causes: tuple[Match, ...] = ()
    record: str = ""
    """In a log, the logger's header in front of it, else the rank."""
    opening: str = ""
    """In a log, the line with torch's marker: it tells what became of the break."""
    form: Form | None = None
    """What it was recognised by, if it has none of torch's layout: it may stand for something that is no break."""

    @property
    def named(self) -> bool:
        return bool(self.gb_ids or self.form)

    @property
    def gb_id(self) -> str | None:
        return self.gb_ids[0] if self.gb_ids else None

    @property
    def chain(self) -> tuple[Match, ...]:
        """The causes, first cause first, then this one."""
        return (*self.causes, self)


class Matcher:
    """Names the break in a text; built once from a registry, never changed."""

    def __init__(self, registry: Registry) -> None:
        known = collect_vocabulary(registry)
        self._standing = {gb_id: rank for rank, gb_id in enumerate(known.gb_ids)}
        self._silent, self._unregistered = known.silent, known.unregistered
        self._forms, self._surfaces, self._warnings = known.forms, known.surfaces, known.warnings
        self._lines, self._frames = known.lines, known.frames
        self._exact: dict[tuple[Kind, str], Wording] = {}
        self._open: dict[Kind, list[Wording]] = {"type": [], "explanation": [], "context": []}
        for wording in known.wordings:
            if wording.template.exact:
                self._exact[wording.kind, wording.template.literals[0]] = wording
            else:
                self._open[wording.kind].append(wording)
        self._printed = {
            (seen.torch, collapse(site.gb_type)): gb.gb_id
            for gb in registry
            for seen in gb.history.releases
            for site in seen.call_sites
        }
        self._form_of = lru_cache(256)(self._find_form_of)
        self._wording_of = lru_cache(256)(self._find_wording)
        self._types_of = lru_cache(256)(self._find_types)

    def find_causes(self) -> CauseFinder:
        """What leaves out messages that only wrap others."""
        return CauseFinder(self._surfaces, self._warnings)

    @classmethod
    def from_registry(cls, registry: Registry) -> Matcher:
        """Take every wording of every break, old ones too."""
        return cls(registry)

    def match_message(self, text: str, *, torch: str | None = None) -> Match | None:
        """Name one message (an exception's text, one log record); None only for a blank text.

        With the release that printed it ("2.13.0"), a type that has two ids gives first the one that release prints.
        """
        if not text.strip():
            return None
        named = next(self.find_messages(split_lines(text), torch=torch), None)
        found = (named, *(self.name_lines(text, torch=torch) if named is None else ()), _UNKNOWN)
        match = next(one for one in found if one is not None)
        message = unlabelled(text) if match is _UNKNOWN else match.message
        return replace(match, message=replace(message, text=text))

    def name_text(self, text: str, *, torch: str | None = None) -> tuple[Match, ...]:
        """Name everything in a text: messages in torch's layout, forms, and in a short text single lines, too."""
        causes = self.find_causes()
        found = self.complete(self.find_messages(split_lines(text), torch=torch), text, torch=torch)
        found = [*(one for match in found for one in causes.take(match)), *causes.finish()]
        # A warning about a break that is reported, too, is no second one.
        reported = {gb_id for match in found if match.form is None for gb_id in match.gb_ids[:1]}
        return tuple(match for match in found if match.form is None or not reported.intersection(match.gb_ids))

    def complete(self, found: Iterable[Match], text: str, *, torch: str | None = None) -> list[Match]:
        """Add to what was found in a short text what has none of torch's layout; in the order of the text.

        If something was named, that is other forms: a warning stands before the error that ended the program.
        """
        found = list(found)
        if len(text) > SHORT:
            return found
        if not any(match.named for match in found):
            return [*found, *self.name_lines(text, torch=torch)]
        known = {_name_of(match) for match in found}
        lines, bodies, records = _lines_of(text)
        apart = [
            match
            for match in self._find_forms(lines, bodies, records, reasons=False)
            if _name_of(match) not in known
            and not any(lines[match.line - 1].strip() in other.message.text for other in found)
        ]
        if not apart and all(self._is_warning(match) for match in found if match.named):
            apart = list(self._find_end(lines))
        return sorted([*found, *apart], key=lambda match: match.line)

    def find_messages(self, lines: Iterable[str], *, torch: str | None = None) -> Iterator[Match]:
        """Name every message in a log, as a stream; chained breaks come as one, with its causes."""
        for draft in find_drafts(lines):
            if match := self.name_draft(draft, torch=torch):
                yield match

    def name_draft(self, draft: Draft, *, torch: str | None = None) -> Match | None:
        """Name a message cut out of a log; None for what may be no message of torch's, and that nobody knows."""
        match = self._name(draft, torch)
        return match if draft.certain or match.named else None

    def ids_of_type(self, gb_type: str, *, torch: str | None = None) -> tuple[str, ...]:
        """The ids that have, or once had, this gb_type: likeliest first."""
        gb_type, gb_ids = self._types_of(gb_type)
        printed = self._printed.get((torch.partition("+")[0], gb_type)) if torch else None
        return (printed, *(gb_id for gb_id in gb_ids if gb_id != printed)) if printed else gb_ids

    def ids_of_wording(self, explanation: str, context: str = "") -> tuple[str, ...]:
        """The ids whose explanation, and context if there is one, reads like this with its placeholders filled."""
        return self._wording_of(collapse(explanation), collapse(context))

    def _find_types(self, gb_type: str) -> tuple[str, tuple[str, ...]]:
        gb_type = collapse(gb_type)
        bare = gb_type.strip(AROUND_TITLES)
        return gb_type, tuple(
            self._matching("type", gb_type) or (self._matching("type", bare) if bare != gb_type else ())
        )

    def _find_wording(self, explanation: str, context: str) -> tuple[str, ...]:
        explained = self._matching("explanation", explanation)
        in_context = self._matching("context", context)
        if any(weight >= DISTINCTIVE for weight in explained.values()):
            said_nothing = self._silent["context"]
            fitting = {gb_id for gb_id in explained if gb_id in in_context or gb_id in said_nothing}
            fitting = fitting if fitting and context else set(explained)  # a context that was cut off says nothing
            return self._sorted(fitting, lambda gb_id: (gb_id not in in_context, -explained[gb_id]))
        distinctive = {gb_id for gb_id, weight in in_context.items() if weight >= DISTINCTIVE}
        if explanation:
            # an explanation that was there, and was none of theirs, speaks against those that have a known one
            distinctive &= self._silent["explanation"] | set(explained)
        return self._sorted(distinctive, lambda gb_id: (gb_id not in explained, -in_context[gb_id]))

    def _matching(self, kind: Kind, text: str) -> dict[str, int]:
        """gb_id -> weight of the best template of that kind that fits."""
        if not text:
            return {}
        exact = self._exact.get((kind, text))
        fitting = [exact] if exact else []
        fitting += [wording for wording in self._open[kind] if wording.template.matches(text)]
        best: dict[str, int] = {}
        for wording in fitting:
            for gb_id in wording.gb_ids:
                best[gb_id] = max(best.get(gb_id, 0), wording.template.weight)
        return best

    def _sorted(self, gb_ids: Iterable[str], evidence: Callable[[str], tuple[object, ...]]) -> tuple[str, ...]:
        return tuple(sorted(gb_ids, key=lambda gb_id: (*evidence(gb_id), self._standing[gb_id])))

    def _name(self, draft: Draft, torch: str | None) -> Match:
        message = draft.message
        how, gb_ids = self._ids_of(message, torch)
        match = Match(
            gb_ids=gb_ids,
            how=how,
            message=message,
            line=draft.line,
            causes=tuple(self._name_cause(cause, draft.line, torch) for cause in message.causes),
            record=draft.record,
            opening=draft.opening,
        )
        if match.how != "none" or draft.fields:
            return match
        # "Graph Break Reason: Encountered graph break when …:", then the type, then a log that was cut off
        for text in draft.bodies:
            if gb_ids := self.ids_of_type(text, torch=torch):
                message = replace(match.message, gb_type=text.strip())
                return replace(match, gb_ids=gb_ids, how="type", message=message)
        lines = [draft.message.gb_type, *draft.bodies]
        form = self._form_of(tuple(lines), draft.opening, draft.marked)
        return self._by_form(form, lines, match) if form else match

    def _find_form_of(self, lines: tuple[str, ...], opening: str, marked: bool) -> Form | None:
        """The form of a message without fields. An exception that wraps another has its text in the next lines."""
        known = forms_within(self._forms, (opening, *lines))
        first = find_form(known, lines, self._surfaces, opening=opening, after_marker=marked)
        others = (find_form(known, lines[at:], self._surfaces) for at in range(1, len(lines)))
        forms = [form for form in (first, *others) if form]
        return min(forms, key=lambda one: self._surfaces.get(one.slug, 0), default=None)

    @staticmethod
    def _by_form(form: Form, lines: Iterable[str], match: Match) -> Match:
        lines = list(lines)
        message = replace(match.message, gb_type="", text="\n".join(lines).rstrip())
        if recompiled := RECOMPILED.match(lines[0]):
            guard = next((guard[1] for line in lines[1:] if (guard := GUARD.match(line))), "")
            message = replace(message, function=recompiled[1], location=recompiled[2], context=guard)
        return replace(match, gb_ids=form.gb_ids, how="form", form=form, message=message)

    def _name_cause(self, message: ParsedMessage, line: int, torch: str | None) -> Match:
        how, gb_ids = self._ids_of(message, torch)
        return Match(gb_ids=gb_ids, how=how, message=message, line=line)

    def _ids_of(self, message: ParsedMessage, torch: str | None) -> tuple[How, tuple[str, ...]]:
        if message.link:
            return "link", (message.link,)
        if gb_ids := self.ids_of_type(message.gb_type, torch=torch):
            return "type", gb_ids
        is_registered = collapse(message.gb_type) not in self._unregistered
        gb_ids = self.ids_of_wording(message.explanation, message.context) if is_registered else ()
        return ("wording", gb_ids) if gb_ids else ("none", ())

    def name_lines(self, text: str, *, torch: str | None = None) -> tuple[Match, ...]:
        """Name what is in a short text without torch's layout.

        The first of these that is there: forms, titles, an explanation, lines of one, old reasons without a marker.

        Returns nothing for a longer text, and for one that is not known.
        """
        if len(text) > SHORT:
            return ()
        lines, bodies, records = _lines_of(text)
        return (
            tuple(self._find_forms(lines, bodies, records))
            or tuple(self._find_titles(bodies, torch))
            or tuple(self._find_explanation("\n".join(bodies)))
            or tuple(self._find_lines(bodies))
            or tuple(self._find_forms(lines, bodies, records, unmarked=True))
            or tuple(self._find_end(lines))
        )

    def _find_forms(
        self, lines: list[str], bodies: list[str], records: list[str], *, reasons: bool = True, unmarked: bool = False
    ) -> Iterator[Match]:
        """Forms, each once. The reasons of breaks are left out, or taken after a marker, or without one, too.

        The logger's header is part of the first line: it may tell what an error's text alone does not.
        """
        seen: set[tuple[object, ...]] = set()
        openings = [record + line for record, line in zip(records, lines, strict=True)]
        forms = forms_within(self._forms, openings)
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            window = bodies[number : number + 1 + FOREIGN_LINES]
            marked = reasons and is_marked(line)
            opening = openings[number]
            form = find_form(forms, window, self._surfaces, opening=opening, after_marker=marked, unmarked=unmarked)
            if form and (key := (form.gb_ids, form.slug, form.gone)) not in seen:
                seen.add(key)
                yield self._by_form(form, window, replace(_UNKNOWN, line=number + 1))

    def _is_warning(self, match: Match) -> bool:
        return match.form is not None and match.form.slug in self._warnings

    def _find_end(self, lines: list[str]) -> Iterator[Match]:
        """The part of torch in which a traceback ends whose last line was cut off, or says nothing."""
        frames = [
            (number, frame[1].replace("\\", "/")) for number, line in enumerate(lines) if (frame := FRAME.match(line))
        ]
        if not frames or LIBRARIES.search(frames[-1][1]) is None:
            return
        for number, path in reversed(frames):
            for part, slug in self._frames.items():
                if part in path:
                    form = Form(text=part, slug=slug)
                    yield self._by_form(form, lines[number:], replace(_UNKNOWN, line=number + 1))
                    return

    def _find_titles(self, bodies: list[str], torch: str | None) -> Iterator[Match]:
        """Lines that are a title, which may be wrapped, and titles in quotes."""
        seen: set[tuple[str, ...]] = set()
        alone = sum(map(bool, bodies)) == 1
        for number, body in enumerate(bodies):
            for title in (body, "\n".join(bodies[number : number + 2]), *QUOTED.findall(body)) if body else ():
                gb_ids = self.ids_of_type(title, torch=torch)
                if gb_ids and gb_ids not in seen and (alone or len(collapse(title)) >= DISTINCTIVE):
                    seen.add(gb_ids)
                    message = ParsedMessage(gb_type=" ".join(title.split()), text=title)
                    yield Match(gb_ids=gb_ids, how="type", message=message, line=number + 1)

    def _find_explanation(self, text: str) -> Iterator[Match]:
        whole = text.strip()
        if whole.count("\n") >= WHOLE_LINES:
            return
        for message in (ParsedMessage(explanation=whole, text=text), ParsedMessage(context=whole, text=text)):
            gb_ids = self.ids_of_wording(message.explanation, message.context)
            if 0 < len(gb_ids) <= MOST_CANDIDATES:
                yield Match(gb_ids=gb_ids, how="wording", message=message)
                return

    def _find_lines(self, bodies: list[str]) -> Iterator[Match]:
        """Lines of explanations, contexts and hints, which are taken to be of one message: what fits all stays."""
        fitting: set[str] = set()
        found: list[str] = []
        whole = collapse("".join(bodies))
        lines = [line for line in self._lines if line.template.literals[0] in whole]
        for body in bodies:
            text = collapse(body)
            owners = {gb_id for line in lines if line.template.matches(text) for gb_id in line.gb_ids}
            is_shared = body.startswith(SHARED_HINTS)
            if owners or is_shared:
                found.append(body)
            if owners and not is_shared:
                fitting = fitting & owners or min(fitting or owners, owners, key=len)
        message = ParsedMessage(text="\n".join(found))
        if 0 < len(fitting) <= MOST_CANDIDATES:
            yield Match(gb_ids=self._sorted(fitting, lambda _: ()), how="wording", message=message)
        elif found:
            yield Match(gb_ids=(), how="shared", message=message)


def _name_of(match: Match) -> object:
    return match.gb_id or (match.form and (match.form.slug, match.form.gone))


def _lines_of(text: str) -> tuple[list[str], list[str], list[str]]:
    """The lines of a text without loggers' prefixes; the same without markers and labels; the prefixes.

    pytest lists the source around the line that raised: texts in it were not printed.
    """
    raw = split_lines(text)
    listed = any(map(PYTEST.match, raw))
    read = [("", "") if listed and LITERAL.match(line) else read_line(line) for line in raw]
    lines = [line for _, line in read]
    return lines, [LABEL.sub("", strip_markers(line)) for line in lines], [record for record, _ in read]


_UNKNOWN = Match(gb_ids=(), how="none", message=ParsedMessage())


class CauseFinder:
    """Leaves out a message that only wraps another one, if that one is near it."""

    def __init__(self, surfaces: Mapping[str, int], warnings: frozenset[str]) -> None:
        self._surfaces, self._warnings = surfaces, warnings
        self._held: Match | None = None
        self._last = (-CHAINED_LINES, 0)
        """Line and surface of the last match that stays."""

    def take(self, match: Match) -> Iterator[Match]:
        """Take the next match; give those that stay. One that wraps waits for what follows it."""
        if not match.named or (match.form and match.form.slug in self._warnings):
            yield match
            return
        surface = self._surface(match)
        held, self._held = self._held, None
        if held and not (surface < self._surface(held) and match.line - held.line <= CAUSE_AFTER):
            yield from self._keep(held)
        line, last = self._last
        if surface and last < surface and match.line - line < CHAINED_LINES:
            return
        if surface:
            self._held = match
        else:
            yield from self._keep(match)

    def finish(self) -> Iterator[Match]:
        if self._held:
            yield self._held

    def _keep(self, match: Match) -> Iterator[Match]:
        self._last = match.line, self._surface(match)
        yield match

    def _surface(self, match: Match) -> int:
        return self._surfaces.get(match.form.slug, 0) if match.form else 0
