"""Answers from the registry as documents: `graphbreak search`, `graphbreak show`, and the tools of the same names."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, cached_property
from typing import Any

from registry.advice import Advice, Advisor
from registry.documents import head
from registry.errors import InvalidInput, Problem
from registry.ids import is_gb_id, looks_like_gb_id, read_gb_id
from registry.knowledge import read_package
from registry.matching import Matcher
from registry.merge import merge_registry
from registry.model import GraphBreak, Registry
from registry.search import Search
from registry.versions import version_key

MOST_HITS = 10


class Lookups:
    """Answers questions. The registry is read for the first question, and kept."""

    @cached_property
    def registry(self) -> Registry:
        return merge_registry(read_package())

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher.from_registry(self.registry)

    @cached_property
    def _search(self) -> Search:
        return Search(self.registry, self._matcher)

    @cached_property
    def _advisor(self) -> Advisor:
        return Advisor(self.registry)

    @cached_property
    def _breaks(self) -> dict[str, GraphBreak]:
        return {gb.gb_id: gb for gb in self.registry}

    def find(self, text: str) -> GraphBreak:
        """The break with an id, as a person wrote it. InvalidInput if there is none."""
        gb_id = read_gb_id(text.strip())
        if gb_id not in self._breaks:
            said = "no such graph break" if looks_like_gb_id(gb_id) else "is not an id"
            why = f"{said}; ids look like GB0042, and `graphbreak search` finds them by words"
            raise InvalidInput([Problem(text.strip(), why)])
        return self._breaks[gb_id]

    def search(self, words: str, *, limit: int = MOST_HITS) -> dict[str, Any]:
        """The breaks that fit words, an id, a link or a message; best first."""
        if not words.strip():
            raise InvalidInput([Problem("search", "there is nothing to search for; write words, an id or a message")])
        found = self._search.find(words)
        return {
            **head("search"),
            "words": words,
            "hits": [self._hit(gb_id, named=at < found.named) for at, gb_id in enumerate(found.gb_ids[:limit])],
            "more": max(0, len(found.gb_ids) - limit),
            "searched_instead": {word: list(others) for word, others in found.respelt.items()},
            "not_graph_breaks": [
                {"title": one.title, "meaning": one.short} for one in map(self._advisor.other_message, found.messages)
            ],
        }

    def _hit(self, gb_id: str, *, named: bool) -> dict[str, Any]:
        advice = self._advise(gb_id, torch="")
        fix = advice.fixes[0] if advice.fixes else None
        return {
            "gb_id": gb_id,
            "title": advice.gb_type,
            "lead": advice.lead,
            "category": advice.category.title,
            "named": named,
            "fix": fix and {"when": fix.when, "verified_on": fix.verified_on},
            "link": advice.link,
        }

    def look_up(self, text: str, *, torch: str = "") -> dict[str, Any]:
        """All that is known of an id, for a user of this torch release; "" is the newest."""
        gb = self.find(text)
        advice = self._advise(gb.gb_id, torch=torch)
        return {
            **head("graph-break"),
            "gb_id": gb.gb_id,
            "title": gb.gb_type,
            "link": advice.link,
            "standing": gb.lifecycle,
            "registered_since": gb.history.first_release or "",
            "older_titles": sorted({dated.revision.gb_type for dated in gb.revisions} - {gb.gb_type}),
            "category": {
                "title": advice.category.title,
                "why": advice.category.why,
                "way_out": advice.category.way_out,
            },
            "lead": advice.lead,
            "explanation": advice.explanation,
            "hints": list(advice.hints),
            "program_that_breaks": advice.broken,
            "why_no_program": gb.unreached.evidence if gb.unreached else "",
            **_fixes(advice),
        }

    def verified_fix(self, text: str, *, torch: str = "") -> dict[str, Any]:
        """The fixes that were run, for an id, or for the break that a message of torch names.

        Of a message, only those fixes that are for what it names.
        """
        gb_id, message = read_gb_id(text.strip()), ""
        others: list[str] = []
        if not is_gb_id(gb_id):
            named = [match for match in self._matcher.name_text(text, torch=torch or None) if match.gb_ids]
            if not named:
                raise InvalidInput([Problem("the text", f"names no graph break; {_HOW}")])
            gb_id, *others = dict.fromkeys([*named[0].gb_ids, *(match.gb_ids[0] for match in named[1:])])
            message = text
        advice = self._advise(self.find(gb_id).gb_id, torch=torch, message=message)
        return {
            **head("verified-fix"),
            "gb_id": gb_id,
            "title": advice.gb_type,
            "link": advice.link,
            "also_named": others,
            **_fixes(advice),
        }

    def _advise(self, gb_id: str, *, torch: str, message: str = "") -> Advice:
        if torch and not version_key(torch):
            raise InvalidInput([Problem(f"torch {torch}", "is not a release; write one such as 2.13.0")])
        advice = self._advisor.advise(gb_id, torch=torch, message=message)
        assert advice is not None, gb_id
        return advice


@cache
def shared_lookups() -> Lookups:
    """The look-ups of this process: its package does not change while it runs."""
    return Lookups()


_HOW = "give an id such as GB0124, or a message as torch prints it; `graphbreak search` finds ids by words"


def _fixes(advice: Advice) -> dict[str, Any]:
    return {
        "fixes": [asdict(fix) for fix in advice.fixes],
        "keeps_the_break_but_contains_it": [{"when": when, "code": code} for when, code in advice.isolated],
        "to_try": [{"for": list(one.globs), "text": one.text} for one in advice.counsels],
        "why_no_fix": advice.misfit or ("" if advice.fixes else advice.no_fix),
        "no_longer_breaks_in": advice.stopped_in,
    }
