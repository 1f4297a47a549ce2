"""Find graph breaks by words, the best match first.

The search box of the site ranks in the same way (templates/scripts/search.js). tests/search_queries.yml measures both.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from registry.ids import linked_ids, read_gb_id
from registry.matching import Matcher
from registry.message_layout import BEFORE_WORDS
from registry.model import GraphBreak, Registry
from registry.searched import searched_texts

# fmt: off
_WORTH = {
    "title": 10.0, "alias": 10.0, "old": 7.0, "lead": 6.0, "calls": 6.0,
    "fix": 4.0, "more": 4.0, "uses": 3.0, "says": 2.0, "kind": 0.5,
}
# fmt: on
"""What a word is worth, by the place where it was found."""
_ENOUGH = 2
"""A word that is worth less is mentioned, not meant."""
_WHOLE, _STEM, _PART, _START, _KIN, _TYPO, _INSIDE = 1.0, 0.85, 0.7, 0.6, 0.5, 0.5, 0.3
"""How well a word of the registry fits a word that was typed."""
_MET = (0.6, 0.75, 1.0, 1.2)
"""By rank: how common a break is in practice."""
_EXACT = 1000.0
"""The title itself comes first."""
_IN_CODE = 3.0
"""A title that has the code as it was typed."""
_NAME = re.compile(r"\w+")
_LITTLE = frozenset(
    _NAME.findall("""
    a an and are as at be by can cannot do does each every for from has have how i in inside into is it its my no not of
    on or our out over so that the then there this to torch when with within without you your error errors fail fails
    failed problem using use used call called code function python
    """)
)
"""Words that say little: found, they count a little; missing, they are not missed."""
_LITTLE_COUNTS = 0.1
_TYPO_LETTERS = 5
"""In a shorter word, one change makes another word."""
_NEAR = 0.8
"""How much a word has to look like one that is known: 1 is the same."""
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDING = re.compile(r"(?:ations?|ions?|ings?|ed|es|s|e)$")
_AS_CODE = re.compile(r"\W*(\w+)[=(]\W*")
_BEFORE_WORDS = re.compile(BEFORE_WORDS, re.IGNORECASE)

Places = Mapping[str, float]
"""gb_id -> what a word is worth there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a text finds."""

    gb_ids: tuple[str, ...]
    """Best first."""
    named: int = 0
    """How many of them, from the first on, the text names: by id, by link, or as a message of torch."""
    messages: tuple[str, ...] = ()
    """Messages in the text that are no graph breaks: their slugs, as in registry/other_messages/."""
    respelt: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words that nothing has -> the words that were searched for instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sought:
    """A word that was typed, with everything that it finds."""

    word: str
    places: Places
    rarity: float = 0.0
    counts: bool = True
    respelt: tuple[str, ...] = ()


class Search:
    """Finds breaks by words. Built once from a registry, never changed."""

    def __init__(self, registry: Registry, matcher: Matcher) -> None:
        self._matcher = matcher
        self._titles: dict[str, tuple[str, ...]] = {}
        self._ranks: dict[str, int] = {}
        self._places: dict[str, dict[str, float]] = defaultdict(dict)
        kinds = {one.key: f"{one.title} {one.why} {one.way_out}" for one in registry.categories}
        for gb in registry:
            self._add(gb, kinds.get(gb.category, ""))
        self._stems: dict[str, list[str]] = defaultdict(list)
        for word in self._places:
            self._stems[_stem(word)].append(word)

    def find(self, text: str) -> Found:
        """Search for a text: words, an id, a link, or a message that torch printed."""
        gb_ids = self._known(linked_ids(text) or [read_gb_id(text.strip())])
        if gb_ids:
            return Found(gb_ids=gb_ids, named=len(gb_ids))
        matches = self._matcher.name_text(text)
        named = self._known(gb_id for match in matches for gb_id in match.gb_ids)
        messages = tuple(dict.fromkeys(match.form.slug for match in matches if match.form and match.form.slug))
        if (named or messages) and len(text.strip().splitlines()) > 1:  # a message that was pasted
            return Found(gb_ids=named, named=len(named), messages=messages)
        sought = tuple(self._look_up_all(_without_prefix(text)))
        others = (gb_id for gb_id in self._sort(_without_prefix(text), sought) if gb_id not in named)
        respelt = {one.word: one.respelt for one in sought if one.respelt}
        return Found(gb_ids=(*named, *others), named=len(named), messages=messages, respelt=respelt)

    def _known(self, gb_ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(gb_id for gb_id in dict.fromkeys(gb_ids) if gb_id in self._titles)

    def _add(self, gb: GraphBreak, kind: str) -> None:
        searched = searched_texts(gb)
        texts = {
            "title": gb.gb_type,
            "alias": "\n".join(gb.aliases),
            "old": "\n".join(searched.old),
            "lead": gb.repro.lead if gb.repro else "",
            "calls": searched.calls,
            "fix": searched.captions,
            "more": searched.more,
            "uses": searched.uses,
            "says": searched.says,
            "kind": kind,
        }
        for place, text in texts.items():
            for word, fit in _indexed(text).items():
                _at_least(self._places[word], gb.gb_id, _WORTH[place] * fit)
        self._titles[gb.gb_id] = tuple(map(_fold, (gb.gb_type, *searched.old, *gb.aliases)))
        self._ranks[gb.gb_id] = searched.rank

    def _sort(self, text: str, sought: tuple[_Sought, ...]) -> list[str]:
        """The ids that have enough of the words: those that have all of them first, then by what they are worth."""
        counted = sum(one.counts for one in sought)
        if not counted:
            return []
        title, code = _fold(text), tuple(_code_in(text))
        scores: dict[str, tuple[bool, float]] = {}
        counts: dict[str, int] = {}
        for gb_id, titles in self._titles.items():
            counts[gb_id] = sum(one.counts and one.places.get(gb_id, 0.0) >= _ENOUGH for one in sought)
            in_code = any(chunk in each for each in titles for chunk in code)
            score = sum(one.places.get(gb_id, 0.0) * one.rarity for one in sought)
            score *= (counts[gb_id] or 0.5) / counted * _MET[self._ranks[gb_id]] * (_IN_CODE if in_code else 1)
            score += _EXACT * (title in titles)
            scores[gb_id] = (score > _EXACT or in_code or counts[gb_id] == counted, score)
        most = max(counts.values())
        kept = [gb_id for gb_id, (whole, score) in scores.items() if whole or (score > 0 and counts[gb_id] >= most / 2)]
        return sorted(kept, key=lambda gb_id: scores[gb_id], reverse=True)

    def _look_up_all(self, text: str) -> Iterator[_Sought]:
        """Every word of the text once, with where it stands and how rare it is."""
        names = dict.fromkeys(_NAME.findall(text))
        long = [name for name in names if len(name) > 1]  # x and y are anybody's variables
        found = [one for name in long or names for one in self._look_up_name(name)]
        as_code = {match[1] for chunk in text.lower().split() if (match := _AS_CODE.fullmatch(chunk))}
        little = [one.word in _LITTLE and one.word not in as_code for one in found]
        for one, says_little in zip(found, little, strict=True):
            counts = all(little) or not says_little
            usual = sum(one.places.values()) / _WORTH["title"]
            rarity = math.log(1 + len(self._titles) / (1 + usual)) * (1 if counts else _LITTLE_COUNTS)
            yield replace(one, rarity=rarity, counts=counts)

    def _look_up_name(self, name: str) -> list[_Sought]:
        whole = self._look_up(name.lower() if name.lower() in self._places else _bare(name))
        parts = _parts(name)
        if whole.places:
            return [whole]
        return [self._look_up(part) for part in parts] if len(parts) > 1 else [self._look_up_typo(whole)]

    def _look_up(self, word: str) -> _Sought:
        fits = {other: _WHOLE if other == word else _STEM for other in self._stems.get(_stem(word), ())}
        for other in self._places:
            if other.startswith(word):
                _at_least(fits, other, _START)
            elif len(word) > 2 and word in other:
                _at_least(fits, other, _INSIDE)
            elif _are_kin(word, other):
                _at_least(fits, other, _KIN)
        return _Sought(word=word, places=self._worth(fits))

    def _look_up_typo(self, one: _Sought) -> _Sought:
        """What was meant by a word that nothing has: the words that look like it."""
        if len(one.word) < _TYPO_LETTERS:
            return one
        near = difflib.get_close_matches(one.word, self._places, n=3, cutoff=_NEAR)
        return replace(one, places=self._worth(dict.fromkeys(near, _TYPO)), respelt=tuple(near))

    def _worth(self, fits: Mapping[str, float]) -> Places:
        places: dict[str, float] = {}
        for word, fit in fits.items():
            for gb_id, worth in self._places[word].items():
                _at_least(places, gb_id, worth * fit)
        return places


def _at_least(worths: dict[str, float], key: str, worth: float) -> None:
    worths[key] = max(worths.get(key, 0.0), worth)


def _without_prefix(text: str) -> str:
    """A line of a message as the registry has it."""
    while (left := _BEFORE_WORDS.sub("", text)) != text:
        text = left
    return text.strip()


def _indexed(text: str) -> dict[str, float]:
    """The words of a text, each with how well it fits: names as they are, and their parts."""
    words: dict[str, float] = {}
    for name in set(_NAME.findall(text)):
        _at_least(words, name.lower(), _WHOLE)
        _at_least(words, _bare(name), _STEM)
        for part in _parts(name):
            _at_least(words, part, _PART)
    words.pop("", None)
    return words


def _fold(text: str) -> str:
    return " ".join(text.lower().split())


def _bare(name: str) -> str:
    return name.lower().strip("_")


def _parts(name: str) -> list[str]:
    """The words that a name is made of: capture_scalar_outputs, BackendCompilerFailed."""
    return [part for part in _CAPITAL.sub("_", name).lower().split("_") if part]


def _stem(word: str) -> str:
    """A word without its ending: compile, compiled and compiles have one stem."""
    stem = _ENDING.sub("", word)
    return stem if len(stem) >= 4 else word


def _are_kin(one: str, other: str) -> bool:
    """Whether two words differ in their endings only: different and differing."""
    common = max(len(one), len(other)) - 4
    return common >= 5 and min(len(one), len(other)) > common and one.startswith(other[:common])


def _code_in(text: str) -> Iterator[str]:
    """Code as it was typed: `.item()`, `out=`. What stands before the last dot may be a variable of the reader's."""
    for chunk in text.lower().split():
        if _NAME.search(chunk) and re.search(r"[.=(\[]", chunk):
            yield chunk
            yield chunk[max(0, chunk.partition("(")[0].rfind(".")) :]
