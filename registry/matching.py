"""From the text of a message, or of a whole log, to gb_id: for all wordings of all releases.

Three ways, strongest first: the link torch prints; the gb_type, exactly; the explanation and the context, whose
`{placeholders}` stand for any text. No placeholder is ever retried, so the time grows with the text and nothing else.
"""

from __future__ import annotations

import ast
import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal, TypedDict

from registry.model import GraphBreak, Registry, Revision
from registry.releases import version_key

How = Literal["link", "type", "wording", "none"]
Kind = Literal["type", "explanation", "context"]

ANYTHING = "\0"
INFORMATIVE = 4
"""Letters and digits a template needs outside its placeholders to tell candidates apart."""
DISTINCTIVE = 12
"""Letters and digits it needs to propose a candidate by itself."""
OPEN_RECORDS = 64
"""Log records followed at the same time: processes and threads that write into one log interleave."""
LINES_IN_MESSAGE = 2000
BATCH = 64
"""Lines looked at together when nothing is open: a reader of a pipe waits for that many."""
FOREIGN_LINES = 8
"""Lines of something else, such as a print to the same terminal, that may interrupt a message."""

# All expressions named in FRAMING mean the same in Python and in JavaScript (flags: none, but `i` for the link).
FRAMING = {
    "link": r"/gb/(gb[0-9]{4,8}|gbl-[0-9a-f]{6})\.html",
    "colour": r"\x1b\[[0-9;?]*[A-Za-z]",
    "prefix": r"^(?:\[(?:rank|default)[0-9]+\]: ?|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z |E {3}|> ?)+",
    "header": r"[VDIWEFC][0-9]{4} [0-9:]{8}\.[0-9]{1,9} [0-9]{1,20} [^\]\n]{1,300}\] ?"
    r"(?:\[(?:!?[0-9][0-9/_]{0,30}|__[A-Za-z0-9_]{1,60}|rank[0-9]{1,9})\] ?)*",
    "label": r"^[ \t]*(Explanation|Hint|Developer debug context|Higher Order Operator):(?: |$)",
    "marker": r"Graph Break Reason: +|torch\._dynamo\.exc\.([A-Za-z]+): +|^[ \t]*(?:Unsupported|Reason): +",
    "location": r"^[ \t]*Graph break (?:\(user stack suppressed due to duplicate graph break\) )?in user code at (.+:[0-9]+)[ \t]*$",  # noqa: E501
    "space": r"[ \t\r\n\f\v]+",
}
LINK = re.compile(FRAMING["link"], re.IGNORECASE)
COLOUR = re.compile(FRAMING["colour"])
PREFIX = re.compile(FRAMING["prefix"])
HEADER = re.compile(FRAMING["header"])
LABEL = re.compile(FRAMING["label"])
MARKER = re.compile(FRAMING["marker"])
LOCATION = re.compile(FRAMING["location"])
SPACE = re.compile(FRAMING["space"])
FRAME = re.compile(r'[ \t]*File "([^"\n]*)", line ([0-9]+)')
SOURCE = re.compile(r"[A-Za-z_][\w.]*(?:\(.*\))?", re.DOTALL)
CHAIN = "*** While handling this graph break, another graph break occurred: ***"
FROM_USER_CODE = ("from user code:", "User code traceback:")
ENDINGS = (
    *FROM_USER_CODE,
    "Stack variable source attribution:",
    "Set TORCHDYNAMO_VERBOSE",
    "Traceback (most recent call last)",
    "The above exception was",
    "During handling of the above",
)
BREAK_EXCEPTIONS = frozenset({"Unsupported", "UncapturedHigherOrderOpError"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedMessage:
    """One message, split as torch put it together; what is not there is empty."""

    gb_type: str = ""
    explanation: str = ""
    hints: tuple[str, ...] = ()
    context: str = ""
    link: str = ""
    """The id in the printed link, "GB0033"."""
    higher_order_operator: str = ""
    location: str = ""
    """file:line of the user's code."""
    text: str = ""
    causes: tuple[ParsedMessage, ...] = ()
    """Earlier breaks that surfaced as this one (a break in a loop), first cause first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A message, and the ids it may have: likeliest first, none when nobody knows it."""

    gb_ids: tuple[str, ...]
    how: How
    message: ParsedMessage
    line: int = 1
    """Which line of the text gives its reason or, without one, its explanation; from 1."""
    causes: tuple[Match, ...] = ()

    @property
    def gb_id(self) -> str | None:
        return self.gb_ids[0] if self.gb_ids else None

    @property
    def chain(self) -> tuple[Match, ...]:
        """The causes, first cause first, then this one."""
        return (*self.causes, self)


class Pattern(TypedDict):
    """One exported pattern; it is tried on a field whose white space is collapsed and stripped."""

    kind: Kind
    gb_ids: list[str]
    pattern: str
    literals: list[str]
    """The text between placeholders. One literal and `exact`: compare instead of matching."""
    exact: bool
    distinctive: bool


def parse_message(text: str) -> ParsedMessage:
    """Split one message as torch formats it; for a text in another layout, its first line is the gb_type."""
    for draft in _find_drafts(_split_lines(text)):
        return replace(draft.message, text=text)
    return _unlabelled(text)


def collapse(text: str) -> str:
    """White space as patterns want it: single spaces, none at the ends."""
    return SPACE.sub(" ", text).strip(" ")


# --- templates ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Template:
    """A registry text as the literals between its placeholders."""

    literals: tuple[str, ...]
    open_start: bool
    open_end: bool

    weight: int
    """How much it says: letters and digits outside placeholders."""

    @property
    def exact(self) -> bool:
        return len(self.literals) == 1 and not (self.open_start or self.open_end)

    def matches(self, text: str) -> bool:
        """Whether `text`, collapsed, is this template with its placeholders filled; each literal is sought once."""
        first, last = self.literals[0], self.literals[-1]
        if self.exact:
            return text == first
        if not (self.open_start or text.startswith(first)) or not (self.open_end or text.endswith(last)):
            return False
        at, end = 0, len(text)
        sought = self.literals
        if not self.open_start:
            at, sought = len(first), sought[1:]
        if not self.open_end:
            end, sought = end - len(last), sought[:-1]
        for literal in sought:
            at = text.find(literal, at, end)
            if at < 0:
                return False
            at += len(literal)
        return at <= end

    def regex(self) -> str:
        """The same for Python and JavaScript: a lookahead and a reference make each step final, so none is retried."""
        steps = ["^" if self.open_start else "^" + _escape(self.literals[0])]
        middle = self.literals if self.open_start else self.literals[1:]
        last = ""
        if not self.open_end:
            last = "(?![\\s\\S])" if not middle else f"[\\s\\S]*{_escape(middle[-1])}(?![\\s\\S])"
            middle = middle[:-1]
        steps += [f"(?=([\\s\\S]*?{_escape(literal)}))\\{group}" for group, literal in enumerate(middle, 1)]
        return "".join([*steps, last])


def make_template(text: str, kind: Kind) -> Template | None:
    """Return None for a text that says nothing: empty, one placeholder, or Python source for a whole field."""
    marked = mark_placeholders(_evaluate(text)) if text[:1] in {'"', "'", "f"} else mark_placeholders(text)
    if ANYTHING not in marked and _is_source(marked, kind):
        return None
    marked = collapse(marked)
    pieces = [piece.strip(" ") for piece in marked.split(ANYTHING)]
    literals = tuple(piece for piece in pieces if piece)
    weight = sum(map(str.isalnum, "".join(literals)))
    template = Template(literals, not pieces[0], not pieces[-1], weight)
    if kind == "type":  # compared as a whole line, any title will do; with a placeholder it has to stand alone
        return template if literals and (template.exact or weight >= DISTINCTIVE) else None
    return template if weight >= INFORMATIVE else None


def mark_placeholders(text: str) -> str:
    """Put ANYTHING for each `{expression}`, which may hold braces and quotes; a brace that stays open is text."""
    text = text.replace(ANYTHING, " ")
    pieces, at = [], 0
    while (start := text.find("{", at)) >= 0:
        end = _end_of_placeholder(text, start, quotes=True) or _end_of_placeholder(text, start, quotes=False)
        if end is None:
            break
        pieces += [text[at:start], ANYTHING]
        at = end
    return "".join([*pieces, text[at:]])


def _end_of_placeholder(text: str, start: int, *, quotes: bool) -> int | None:
    depth, quote = 0, ""
    for at in range(start, len(text)):
        character = text[at]
        if quote:
            quote = "" if character == quote else quote
        elif quotes and character in "'\"":
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return at + 1
    return None


def _is_source(text: str, kind: Kind) -> bool:
    """`msg`, `str(cause.func)`: what upstream's extractor could not evaluate. A gb_type may well be one word."""
    if kind == "type":
        return text.startswith("_") and text.isidentifier()
    return SOURCE.fullmatch(text) is not None and _parse_expression(text) is not None


def _evaluate(text: str) -> str:
    """Join string literals that upstream left as source: `"a {b} " + f"c" + d` is `a {b} c{}`."""
    expression = _parse_expression(text)
    if not isinstance(expression, (ast.Constant, ast.JoinedStr, ast.BinOp)):
        return text
    return _evaluate_node(expression)


def _evaluate_node(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "{}"
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_evaluate_node, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _evaluate_node(node.left) + _evaluate_node(node.right)
    return "{}"


def _parse_expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _escape(literal: str) -> str:
    """Escape what both languages agree to be special; JavaScript's `u` flag refuses what re.escape does."""
    return re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", literal)


# --- the matcher ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Wording:
    """One template and the ids that have it, likeliest first."""

    template: Template
    kind: Kind
    gb_ids: tuple[str, ...]


class Matcher:
    """Names the break in a text; built once from a registry, never changed."""

    def __init__(self, registry: Registry) -> None:
        self._standing = {gb.gb_id: _standing(gb) for gb in registry}
        wordings, self._silent = _collect_wordings(registry, self._standing)
        self._exact: dict[tuple[Kind, str], _Wording] = {}
        self._open: dict[Kind, list[_Wording]] = {"type": [], "explanation": [], "context": []}
        for wording in wordings:
            if wording.template.exact:
                self._exact[wording.kind, wording.template.literals[0]] = wording
            else:
                self._open[wording.kind].append(wording)
        self._unregistered = frozenset(collapse(site.gb_type) for site in registry.unregistered)
        self._printed = {
            (seen.torch, site.gb_type.strip()): gb.gb_id
            for gb in registry
            for seen in gb.history.releases
            for site in seen.call_sites
        }
        self._recent: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()

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
        for draft in _find_drafts(_split_lines(text)):
            match = self._name(draft, torch)
            return replace(match, message=replace(match.message, text=text))
        return self._name_unlabelled(text, torch)

    def find_messages(self, lines: Iterable[str], *, torch: str | None = None) -> Iterator[Match]:
        """Name every message in a log, as a stream; chained breaks come as one, with its causes."""
        for draft in _find_drafts(lines):
            match = self._name(draft, torch)
            if draft.certain or match.gb_ids:
                yield match

    def ids_of_type(self, gb_type: str, *, torch: str | None = None) -> tuple[str, ...]:
        """The ids that have, or once had, this gb_type: likeliest first."""
        gb_type = collapse(gb_type)
        gb_ids = tuple(self._matching("type", gb_type))
        printed = self._printed.get((torch.partition("+")[0], gb_type)) if torch else None
        return (printed, *(gb_id for gb_id in gb_ids if gb_id != printed)) if printed else gb_ids

    def ids_of_wording(self, explanation: str, context: str = "") -> tuple[str, ...]:
        """The ids whose explanation, and context if there is one, reads like this with its placeholders filled."""
        key = (collapse(explanation), collapse(context))
        found = self._recent.get(key)
        if found is None:
            found = self._recent[key] = self._find_wording(*key)
            if len(self._recent) > 256:
                self._recent.popitem(last=False)
        return found

    def _find_wording(self, explanation: str, context: str) -> tuple[str, ...]:
        explained = self._matching("explanation", explanation)
        in_context = self._matching("context", context)
        if any(weight >= DISTINCTIVE for weight in explained.values()):
            said_nothing = self._silent["context"]
            fitting = {gb_id for gb_id in explained if gb_id in in_context or gb_id in said_nothing} or set(explained)
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
        return tuple(sorted(gb_ids, key=lambda gb_id: (*evidence(gb_id), *self._standing[gb_id])))

    def _name(self, draft: _Draft, torch: str | None) -> Match:
        causes = tuple(self._name_parsed(cause, draft.line, torch) for cause in draft.message.causes)
        match = replace(self._name_parsed(draft.message, draft.line, torch), causes=causes)
        if match.how == "none" and not draft.fields:
            # "Graph Break Reason: Encountered graph break when …:", then the type, then a log that was cut off
            for text in draft.bodies:
                if gb_ids := self.ids_of_type(text, torch=torch):
                    message = replace(match.message, gb_type=text.strip())
                    return replace(match, gb_ids=gb_ids, how="type", message=message)
        return match

    def _name_parsed(self, message: ParsedMessage, line: int, torch: str | None) -> Match:
        how: How = "none"
        gb_ids: tuple[str, ...] = ()
        if message.link:
            how, gb_ids = "link", (message.link,)
        elif gb_ids := self.ids_of_type(message.gb_type, torch=torch):
            how = "type"
        elif collapse(message.gb_type) not in self._unregistered and (
            gb_ids := self.ids_of_wording(message.explanation, message.context)
        ):
            how = "wording"
        return Match(gb_ids=gb_ids, how=how, message=message, line=line)

    def _name_unlabelled(self, text: str, torch: str | None) -> Match:
        """No layout to go by: a line that is a gb_type, else the whole as an explanation or a context."""
        bodies = [_read_line(line)[1] for line in _split_lines(text)]
        for number, body in enumerate(bodies, 1):
            gb_type = _strip_markers(body)
            if gb_ids := self.ids_of_type(gb_type, torch=torch):
                return Match(gb_ids=gb_ids, how="type", message=ParsedMessage(gb_type=gb_type, text=text), line=number)
        whole = "\n".join(bodies)
        if gb_ids := self.ids_of_wording(whole):
            return Match(gb_ids=gb_ids, how="wording", message=ParsedMessage(explanation=whole.strip(), text=text))
        if gb_ids := self.ids_of_wording("", whole):
            return Match(gb_ids=gb_ids, how="wording", message=ParsedMessage(context=whole.strip(), text=text))
        return Match(gb_ids=(), how="none", message=_unlabelled(text))


def export_patterns(registry: Registry) -> list[Pattern]:
    """Every wording as a regular expression that means the same in JavaScript, for the page's paste box."""
    wordings, _ = _collect_wordings(registry, {gb.gb_id: _standing(gb) for gb in registry})
    return [
        Pattern(
            kind=wording.kind,
            gb_ids=list(wording.gb_ids),
            pattern=wording.template.regex(),
            literals=list(wording.template.literals),
            exact=wording.template.exact,
            distinctive=wording.kind == "type" or wording.template.weight >= DISTINCTIVE,
        )
        for wording in wordings
    ]


def _collect_wordings(
    registry: Registry, standing: Mapping[str, Sequence[object]]
) -> tuple[list[_Wording], dict[Kind, frozenset[str]]]:
    """All distinct templates with their ids; and per kind, the ids that have a wording that says nothing."""
    owners: dict[tuple[Kind, Template], dict[str, tuple[object, ...]]] = {}
    silent: dict[Kind, set[str]] = {"type": set(), "explanation": set(), "context": set()}
    for gb in registry:
        dead, *newness = standing[gb.gb_id]
        newest = dict(_texts(gb.newest))
        for kind, text in dict.fromkeys(text for dated in gb.revisions for text in _texts(dated.revision)):
            template = make_template(text, kind)
            if template is None:
                silent[kind].add(gb.gb_id)
            else:
                outdated = text != newest[kind]
                owners.setdefault((kind, template), {}).setdefault(gb.gb_id, (dead, outdated, *newness))
    wordings = [
        _Wording(template, kind, tuple(sorted(claims, key=claims.__getitem__)))
        for (kind, template), claims in owners.items()
    ]
    return wordings, {kind: frozenset(gb_ids) for kind, gb_ids in silent.items()}


def _texts(revision: Revision) -> tuple[tuple[Kind, str], ...]:
    return ("type", revision.gb_type), ("explanation", revision.explanation), ("context", revision.context)


def _standing(gb: GraphBreak) -> tuple[object, ...]:
    """Sorts live ids before dead ones, then the newest first."""
    first = version_key(gb.history.first_release or "")
    return gb.lifecycle not in {"live", "local"}, tuple(-part for part in first), gb.gb_id


# --- messages in text -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Draft:
    """A message being read; finished ones leave as they are."""

    line: int
    message: ParsedMessage
    certain: bool
    """Only torch writes like this: worth keeping even if nobody knows it."""
    indent: int = 0
    fields: list[tuple[str, list[str]]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    foreign: int = 0

    def add_field(self, name: str, text: str) -> None:
        self.fields.append((name, [text]))
        self.certain = self.certain or name == "Developer debug context"

    def add_line(self, body: str) -> bool:
        """Take a line that goes on with the last field; say whether it did."""
        indent = len(body) - len(body.lstrip())
        stripped_layout = self.indent == 0 and self.fields[-1][0] != "Developer debug context"
        if body.strip() and indent <= self.indent and not stripped_layout:
            return False
        if len(self.bodies) < LINES_IN_MESSAGE:
            by_torch = self.indent + 2
            self.fields[-1][1].append(body[by_torch:] if indent >= by_torch or not body.strip() else body.lstrip())
            self.bodies.append(body)
        return True

    def finish(self, causes: Iterable[ParsedMessage] = ()) -> _Draft:
        values: dict[str, list[str]] = {}
        for name, lines in self.fields:
            values.setdefault(name, []).append("\n".join(lines).strip())
        self.message = replace(
            self.message,
            explanation="\n".join(values.get("Explanation", ())),
            hints=tuple(values.get("Hint", ())),
            context="\n".join(values.get("Developer debug context", ())),
            text="\n".join(self.bodies).strip("\n"),
            causes=tuple(causes),
        )
        return self


class _Record:
    """Reads one log record, or everything outside of records, line by line."""

    def __init__(self, last: str = "") -> None:
        self.last = last
        self.location = ""
        self.operator = ""
        self.reason: _Draft | None = None
        """A line that names a reason, until its explanation comes or does not."""
        self.draft: _Draft | None = None
        self.ended = False
        self.in_stack = False
        self.chain: list[_Draft] = []

    @property
    def busy(self) -> bool:
        return bool(self.draft or self.reason or self.chain or self.in_stack)

    def read(self, body: str, number: int) -> Iterator[_Draft]:
        text = body.strip()
        if not text:
            if self.draft and not self.ended:
                self.draft.add_line("")
            return
        if self.in_stack:
            if body[:1].isspace():
                if (frame := FRAME.match(body)) and self.draft:
                    self.draft.message = replace(self.draft.message, location=f"{frame[1]}:{frame[2]}")
                return
            yield from self.close()
        label = LABEL.match(body)
        if label and not (self.ended and label[1] != "Explanation"):
            yield from self._read_label(label, body, number)
        elif text == CHAIN:
            self._keep_as_cause()
        elif self.draft and text.startswith(FROM_USER_CODE):
            self.in_stack = not self.draft.message.location
            if not self.in_stack:
                yield from self.close()
        elif "/gb/" in text and (links := LINK.findall(text)):
            yield from self._read_links(links, body, number)
        else:
            yield from self._read_text(body, text, number)

    def _read_label(self, label: re.Match[str], body: str, number: int) -> Iterator[_Draft]:
        name, rest = label[1], body[label.end() :]
        if name == "Higher Order Operator":
            self.operator = rest.strip()
            return
        headless = self.draft is None and name == "Developer debug context"
        if name == "Explanation" or headless:
            gb_type = "" if headless else _strip_markers(self.last)
            reason, self.reason = self.reason, None
            if reason and not reason.message.gb_type.endswith(":") and reason.message.gb_type != gb_type:
                yield reason  # no preamble ("Graph break encountered:") of this one, but a message of its own
                reason = None
            causes = [*self.chain] if self.draft is None else []
            if not causes:
                yield from self.close()
            self.chain = causes
            self.draft = _Draft(
                line=reason.line if reason else number,
                message=ParsedMessage(gb_type=gb_type, higher_order_operator=self.operator, location=self.location),
                certain=reason is not None and reason.certain,
                indent=len(body) - len(body.lstrip()),
                bodies=[gb_type] if gb_type else [],
            )
            self.operator, self.ended = "", False
        if self.draft:
            self.draft.bodies.append(body)
            self.draft.foreign = 0
            self.draft.add_field(name, rest)

    def _read_links(self, links: list[str], body: str, number: int) -> Iterator[_Draft]:
        if self.draft and not self.ended:
            self.draft.message = replace(self.draft.message, link=links.pop(0).upper())
            self.draft.bodies.append(body)
            self.draft.certain = self.ended = True
        for link in links:
            yield _Draft(line=number, message=ParsedMessage(link=link.upper(), text=body.strip()), certain=True)

    def _read_text(self, body: str, text: str, number: int) -> Iterator[_Draft]:
        if self.ended or text.startswith(ENDINGS):
            yield from self.close()
        if self.draft and not self._starts_anew(body) and self.draft.add_line(body):
            self.last = body
            return
        if place := LOCATION.match(body):
            yield from self.close()
            self.location = place[1]
        elif marker := MARKER.search(body):
            yield from self.close()
            reason = body[marker.end() :].strip()
            certain = body[marker.start() :].startswith("Graph Break Reason") or marker[1] in BREAK_EXCEPTIONS
            message = ParsedMessage(gb_type=_strip_markers(reason), location=self.location, text=reason)
            self.reason = _Draft(line=number, message=message, certain=certain)
        elif self.draft or self.reason:
            yield from self._read_foreign(body)
        self.last = body

    def _starts_anew(self, body: str) -> bool:
        """In a text that lost its indentation, a marker is all that tells the next message from this one."""
        if self.draft is None or len(body) - len(body.lstrip()) > self.draft.indent:
            return False
        return LOCATION.match(body) is not None or MARKER.match(body.lstrip()) is not None

    def _read_foreign(self, body: str) -> Iterator[_Draft]:
        if self.reason:
            self.reason.bodies.append(body)
        waiting = self.draft or self.reason
        if waiting:
            waiting.foreign += 1
            if waiting.foreign > FOREIGN_LINES:
                yield from self.close()

    def _keep_as_cause(self) -> None:
        if self.draft:
            self.chain.append(self.draft.finish())
            self.draft, self.ended = None, False

    def close(self) -> Iterator[_Draft]:
        """Give what was read so far, and start anew."""
        drafts = [*self.chain, *([self.draft] if self.draft else [])]
        if drafts:
            *causes, final = drafts
            yield final.finish(cause.message for cause in causes)
        elif self.reason:
            yield self.reason
        if drafts or self.reason:
            self.location = ""
        self.chain, self.draft, self.reason = [], None, None
        self.ended = self.in_stack = False


def _find_drafts(lines: Iterable[str]) -> Iterator[_Draft]:
    """Messages in the order in which they end; a line with none of torch's words costs a few substring searches."""
    records: OrderedDict[str, _Record] = OrderedDict()
    busy: set[str] = set()
    skipped = header = key = ""
    for number, line in _pass_over(lines, busy):
        if not (busy or _has_sign(line)):
            if line and not line.isspace():
                skipped = line
            continue
        for piece in line.rstrip("\r\n").split("\r"):
            if header and piece.startswith(header) and "\x1b" not in piece:  # the next line of the same record
                body = piece[len(header) :]
            else:
                key, body = _read_line(piece)
                header = piece[: len(piece) - len(body)] if HEADER.match(key) and piece.endswith(body) else ""
            record = records.get(key)
            if record is None:
                if not _has_sign(body):
                    skipped = piece
                    continue
                record = records[key] = _Record()
                if len(records) > OPEN_RECORDS:
                    oldest, crowded_out = records.popitem(last=False)
                    busy.discard(oldest)
                    yield from crowded_out.close()
            if skipped:
                before, last = _read_line(skipped)
                record.last = last if before == key else record.last
                skipped = ""
            yield from record.read(body, number)
            if not header:
                (busy.add if record.busy else busy.discard)(key)
    for record in records.values():
        yield from record.close()


def _pass_over(lines: Iterable[str], busy: Collection[str]) -> Iterator[tuple[int, str]]:
    """Number the lines; of a batch in which nothing looks like torch's words, give only the last that is not blank."""
    number = 0
    source = iter(lines)
    while batch := list(islice(source, BATCH)):
        if busy or _has_sign("\n".join(batch)):
            yield from enumerate(batch, number + 1)
        else:
            for offset in range(len(batch) - 1, -1, -1):
                if batch[offset].strip():
                    yield number + offset + 1, batch[offset]
                    break
        number += len(batch)


def _has_sign(text: str) -> bool:
    """Whether torch may be speaking; what a lone `any` over a list would cost matters here."""
    return (
        "xplanation:" in text
        or "/gb/" in text
        or "__graph_breaks" in text
        or "_dynamo.exc" in text
        or "_dynamo/exc.py" in text
        or "nsupported: " in text
        or "raph break" in text
        or "Graph Break Reason" in text
        or "Developer debug context" in text
    )


def _read_line(line: str) -> tuple[str, str]:
    """Take colours and a logger's prefix off a line: (the record it belongs to, the rest with its indent)."""
    line = line.rstrip("\r\n")
    if "\x1b" in line:
        line = COLOUR.sub("", line)
    rank = ""
    if prefix := PREFIX.match(line):
        line = line[prefix.end() :]
        rank = prefix[0][prefix[0].find("[") :].rstrip() if "[" in prefix[0] else ""
    header = HEADER.search(line, 0, 1000)
    return (header[0].rstrip(), line[header.end() :]) if header else (rank, line)


def _strip_markers(body: str) -> str:
    """`torch._dynamo.exc.Unsupported: X` and `Graph Break Reason: X` are X."""
    _, text = _read_line(body)
    while marker := MARKER.search(text, 0, 1000):
        text = text[marker.end() :]
    return text.strip()


def _split_lines(text: str) -> list[str]:
    return text.split("\n")


def _unlabelled(text: str) -> ParsedMessage:
    first = next((line for line in _split_lines(text) if line.strip()), "")
    link = LINK.search(text)
    return ParsedMessage(gb_type=_strip_markers(first), link=link[1].upper() if link else "", text=text)
