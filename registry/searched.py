"""What of a graph break is searched, besides its title: by the search box of the site, and by `graphbreak search`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

from registry.model import GraphBreak
from registry.repros import docstring_of

_WORD = re.compile(r"\w+")
_OF_FIXES = ("fixed", "isolated", "CONFIG", "FLAGS")
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
    others = [one.repro for one in gb.programs[1:]]
    statements = [node for one in gb.programs for node in ast.parse(one.repro.source).body]
    titles = dict.fromkeys(wording.gb_type for wording in wordings)
    return SearchedTexts(
        old=tuple(title for title in titles if title.strip() and title != gb.gb_type),
        calls=words_of(_names(statements, of_fixes=False)),
        more=words_of([*(one.lead for one in others), *(one.title for one in others)]),
        captions=words_of(docstring_of(node) for node in statements if _is_fix(node)),
        uses=words_of(_names(statements, of_fixes=True)),
        says=words_of([*texts, *printed]),
        rank=_rank(gb),
    )


def words_of(texts: Iterable[str]) -> str:
    """Each word of the texts once, in the order given."""
    words = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    return " ".join(word for word in words if len(word) > 1 and word not in _EVERY_PROGRAM)


def _is_fix(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("fixed")


def _names(statements: Iterable[ast.stmt], *, of_fixes: bool) -> Iterator[str]:
    """What programs use by name: in their fixes and settings, or in what breaks.

    Classes and constants of a program are left out: they have many names, and few of them tell what breaks.
    """
    for statement in statements:
        defined = getattr(statement, "name", "") or "".join(map(ast.unparse, getattr(statement, "targets", ())))
        if of_fixes:
            wanted = defined.startswith(_OF_FIXES)
        else:
            wanted = defined.islower() and not defined.startswith(("inputs", *_OF_FIXES))
        if wanted:
            yield from (name for node in ast.walk(statement) for name in _named_by(node))


def _named_by(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            return [name]
        case ast.Dict(keys=keys):
            return [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return []


def _rank(gb: GraphBreak) -> int:
    if gb.lifecycle not in ("live", "local"):
        return 0
    if gb.sightings:
        return 3
    return 2 if any(one.repro.reach == "public" for one in gb.programs) else 1
