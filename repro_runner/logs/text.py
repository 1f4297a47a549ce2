"""Read text logs: torch's logs (TORCH_LOGS=graph_breaks or +dynamo), Python's tracebacks, and any other text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from registry.matching import SHORT, Match
from registry.message_layout import EXCEPTIONS
from registry.messages import Draft, DraftReader
from repro_runner.explain.merging import Gathering
from repro_runner.explain.site import Site
from repro_runner.logs.blocks import HEAD
from repro_runner.logs.model import FoundMessage, Input, LogPart, Unfit, gather_messages
from repro_runner.logs.sieve import Sieve
from repro_runner.logs.text_messages import (
    MentionedBreaks,
    Recent,
    Surroundings,
    is_mention,
    is_of_torch,
    is_report,
    mentioning_record,
    read_break,
)

GRAPH_BREAKS, TRACEBACK, TEXT = "graph_breaks", "traceback", "text"
NAME = TEXT

_VERSION = re.compile(rb"(?:PyTorch version: |\btorch==|\btorch version: )([0-9]+\.[0-9]+\.[0-9]+)")
_EXCEPTION = re.compile(rf"{re.escape(EXCEPTIONS)}[A-Za-z]+: |^Unsupported: ")
_SUMMARY = re.compile(r"(?:FAILED|ERROR) |[^\"\n]{1,1000}\.py:[0-9]+: ")
"""The start of pytest's summary lines and of `--tb=line`. They repeat errors that were printed before."""
_COMMAND = "TORCH_LOGS={} python your_script.py 2> breaks.log"
NO_BREAKS = Unfit(
    question="where graphs break",
    why="nothing in it is from Dynamo or Inductor",
    command=_COMMAND.format("graph_breaks"),
)
_NOTHING_KNOWN = replace(NO_BREAKS, why="it has lines about torch, but none of them reports a break")
_SHARED = replace(
    NO_BREAKS, question="which break it is", why="torch prints these lines for many breaks; give the lines above, too"
)
_NO_GRAPHS = Unfit(
    question="how many graphs there are",
    why="a log of breaks alone does not count them",
    command=_COMMAND.format("+dynamo"),
)
_REPORTS_KEPT = 100_000
_ERRORS_KEPT = 100


def recognise(head: bytes) -> bool:  # noqa: ARG001
    """Always true: an input that no other format recognises is text."""
    return True


def open_reader(source: Input) -> TextReader:
    return TextReader(source)


class TextReader:
    """Finds reports of breaks, exceptions, and lines that only mention a break. Each report is counted once."""

    def __init__(self, source: Input) -> None:
        self._source = source
        self._sieve, self._drafts, self._around = Sieve(), DraftReader(), Surroundings()
        self._version: str | None = None
        self._found, self._mentioned = Gathering(), MentionedBreaks()
        self._summaries: list[Site] = []
        self._formats = {GRAPH_BREAKS: 0, TRACEBACK: 0}
        self._seen: Recent[int, None] = Recent(_REPORTS_KEPT)
        """Hashes of the reports that were counted, because a log may quote itself."""
        self._last_exception: tuple[int, object] = (0, "")
        self._errors: Counter[str] = Counter()
        self._more_errors = 0
        self._causes = source.matcher.find_causes()
        self._messages: list[FoundMessage] = []
        self._shared = False
        self._short: bytes | None = b""
        """The whole text, as long as it is short: then its lines can be looked up one by one."""
        self._waiting: list[Match] = []
        """What was found in it."""

    def feed(self, block: bytes) -> None:
        """See Reader."""
        if self._version is None:
            version = _VERSION.search(block, 0, HEAD)
            self._version = version[1].decode() if version else ""
        if self._short is not None:
            self._short = self._short + block if len(self._short) + len(block) <= SHORT else None
            if self._short is None:
                self._take_waiting()
        for number, header, text in self._sieve.sift(
            block, lambda at: at <= self._around.stack_until or self._drafts.awaits(at)
        ):
            self._around.look_at(number, header, text)
            for draft in self._drafts.read_run(header, text, number):
                self._take(draft)

    def finish(self) -> LogPart:
        """See Reader."""
        for draft in self._drafts.finish():
            self._take(draft)
        if self._short is not None:
            text, self._short = self._short.decode("utf-8", "replace"), None
            self._waiting = self._source.matcher.complete(self._waiting, text, torch=self._torch)
            self._take_waiting()
        for match in self._causes.finish():
            self._place(match)
        for one in self._mentioned.unreported(self._around):
            self._found.add(one)
        for one in () if self._formats[TRACEBACK] else self._summaries:
            self._found.add(one)
        found = next((name for name, count in self._formats.items() if count), TEXT)
        return LogPart(
            format=found,
            graphs=self._sieve.graphs,
            breaks=self._found.breaks,
            messages=gather_messages(self._messages),
            rank=self._source.rank,
            torch=self._version or "",
            errors=tuple(f"{text} ({count}×)" if count > 1 else text for text, count in self._errors.items()),
            notes=(f"{self._more_errors} more errors are not listed",) if self._more_errors else (),
            unfit=tuple(self._unfit(found)),
        )

    def _unfit(self, found: str) -> Iterator[Unfit]:
        if found == TEXT and self._sieve.graphs is None and not (self._found.breaks or self._errors or self._messages):
            yield _SHARED if self._shared else _NOTHING_KNOWN if self._sieve.of_torch else NO_BREAKS
        elif found == GRAPH_BREAKS and self._sieve.graphs is None:
            yield _NO_GRAPHS

    @property
    def _torch(self) -> str | None:
        return self._source.torch or self._version or None

    def _take(self, draft: Draft) -> None:
        match = self._source.matcher.name_draft(draft, torch=self._torch)
        if match is not None:
            self._take_match(match)
        elif _EXCEPTION.match(draft.opening):
            # It may be an exception of Dynamo that nobody knows.
            self._keep_error(draft.opening)

    def _take_match(self, match: Match) -> None:
        if self._short is not None:
            self._waiting.append(match)
        elif match.how == "shared":
            self._shared = True
        else:
            for one in self._causes.take(match):
                self._place(one)

    def _take_waiting(self) -> None:
        for match in self._waiting:
            self._take_match(match)
        self._waiting = []

    def _place(self, match: Match) -> None:
        """Put a match to the breaks, or to the other messages."""
        report = is_report(match)
        if match.form is not None and match.form.slug and not report:
            said = match.message
            found = FoundMessage(
                slug=match.form.slug,
                text=said.text,
                where=said.location,
                log=self._source.log,
                log_line=match.line,
                function=said.function,
                guard=said.context,
            )
            self._messages.append(found)
            return
        mention = not report and is_mention(match)
        if mention and self._mentioned.forget(match):
            return
        one = read_break(match, self._source, self._around)
        if report:
            self._add_report(one, match)
        elif match.form and one.file:  # a warning that names the place, such as that of the recompile limit
            self._found.add(one)
        elif mention:
            self._mentioned.add(one, mentioning_record(match))
        elif _SUMMARY.match(match.opening) and not match.message.explanation:
            self._summaries.append(one)
        else:
            self._add_exception(one)

    def _keep_error(self, text: str) -> None:
        if text in self._errors or len(self._errors) < _ERRORS_KEPT:
            self._errors[text] += 1
        else:
            self._more_errors += 1

    def _add_report(self, one: Site, match: Match) -> None:
        self._formats[GRAPH_BREAKS] += 1
        if is_of_torch(match.record):
            key = hash((match.record, one.where, one.gb_ids, one.gb_types))
            if key in self._seen:
                return
            self._seen.keep(key, None)
        self._mentioned.mark_reported(one)
        self._found.add(one)

    def _add_exception(self, one: Site) -> None:
        """Count an exception, unless a chain of tracebacks prints the same exception again."""
        self._formats[TRACEBACK] += 1
        line, before = self._last_exception
        self._last_exception = one.log_line, one.gb_ids or one.message
        if self._last_exception[1] == before and self._around.are_chained(line, one.log_line):
            return
        self._mentioned.mark_reported(replace(one, compile_ids=()))
        self._found.add(one)
