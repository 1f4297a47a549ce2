"""What of a graph break is searched, besides its title: by the search box of the site, and by `graphbreak search`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from registry.model import GraphBreak

_WORD = re.compile(r"\w+")
_EVERY_PROGRAM = frozenset({"torch", "inputs", "broken", "fixed", "compile"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedTexts:
    """The texts of one break. All but `old` are lists of words, each of them once."""

    old: tuple[str, ...]
    """Its other titles."""
    calls: str
    """What its programs use by name, where they break."""
    more: str
    """What its further programs are about."""
    captions: str
    """When to choose which of its fixes."""
    uses: str
    """What its fixes use by name."""
    says: str
    """Its explanations, contexts and hints."""
    rank: int
    """How common it is in practice: 3 in a real program, 2 from public code, 1 otherwise, 0 retired."""


def searched_texts(gb: GraphBreak, printed: Iterable[str] = ()) -> SearchedTexts:
    """Collect the texts of a break. `printed` is what torch printed of it, which belongs to what it says."""
    wordings = [dated.revision for dated in gb.revisions]
    hints = ("".join(hint) for dated in gb.revisions for hint in dated.hints)
    texts = [*(text for wording in wordings for text in (wording.explanation, wording.context)), *hints]
    repros = [one.repro for one in gb.programs]
    titles = dict.fromkeys(wording.gb_type for wording in wordings)
    return SearchedTexts(
        old=tuple(title for title in titles if title.strip() and title != gb.gb_type),
        calls=words_of(name for one in repros for name in one.calls),
        more=words_of([*(one.lead for one in repros[1:]), *(one.title for one in repros[1:])]),
        captions=words_of(caption for one in repros for caption in one.captions),
        uses=words_of(name for one in repros for name in one.uses),
        says=words_of([*texts, *printed]),
        rank=_rank(gb),
    )


def words_of(texts: Iterable[str]) -> str:
    """Each word of the texts once, in the order given."""
    words = dict.fromkeys(word for text in dict.fromkeys(texts) for word in _WORD.findall(text))
    return " ".join(word for word in words if len(word) > 1 and word not in _EVERY_PROGRAM)


def _rank(gb: GraphBreak) -> int:
    if gb.lifecycle not in ("live", "local"):
        return 0
    if gb.sightings:
        return 3
    return 2 if any(one.repro.reach == "public" for one in gb.programs) else 1
