"""Read a model's reply, and apply its blocks to the user's text. Nothing in a reply is trusted."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

_BLOCK = re.compile(
    r"^<{5,9} ?SEARCH[^\n]*\n(?P<search>.*?)^={5,9}[ \t]*\n(?P<replace>.*?)^>{5,9} ?REPLACE[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
_CAUSE = re.compile(
    r"^[*_# ]*CAUSE[*_ ]*:[*_ ]*(?P<cause>.*?)(?=^<{5,9} ?SEARCH|^[*_# ]*NO PATCH|\Z)", re.DOTALL | re.MULTILINE
)
_NO_PATCH = re.compile(r"^[*_# ]*NO PATCH", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and marks that change the direction of text."""
_MOST_CAUSE = 2000
_MOST_BLOCKS = 20


class NotUnderstood(Exception):
    """The reply does not have the requested form, or its blocks don't fit the text. The text says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Lines to find, and the lines that replace them."""

    search: str
    replace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """A model's cause and patch. There are no blocks if the model gives no patch."""

    cause: str
    blocks: tuple[Block, ...] = ()


def parse_reply(text: str) -> ModelReply:
    """Parse a reply. Raises NotUnderstood if it has no cause, or neither blocks nor NO PATCH."""
    text = _CONTROL.sub("", text.replace("\r\n", "\n"))
    found = _CAUSE.search(text)
    cause = re.sub(r"^```\w*$", "", found["cause"], flags=re.MULTILINE).strip() if found else ""
    if not cause:
        raise NotUnderstood("the answer is not in the form that was asked for: it has no CAUSE")
    blocks = tuple(Block(search=one["search"], replace=one["replace"]) for one in _BLOCK.finditer(text))
    if not blocks and not _NO_PATCH.search(text):
        raise NotUnderstood("the answer is not in the form that was asked for: neither a whole patch nor NO PATCH")
    if len(blocks) > _MOST_BLOCKS:
        raise NotUnderstood(f"the patch has {len(blocks)} blocks, which nobody would read")
    return ModelReply(cause=cause[:_MOST_CAUSE], blocks=blocks)


def apply_blocks(text: str, blocks: tuple[Block, ...]) -> str:
    """The text with every block applied. Raises NotUnderstood if a block is not found, or found more than once."""
    ending = "\r\n" if "\r\n" in text else "\n"
    changed = text.replace("\r\n", "\n")
    for number, block in enumerate(blocks, 1):
        try:
            changed = _apply(changed, block)
        except NotUnderstood as error:
            raise NotUnderstood(f"block {number} of the patch {error}") from error
    if changed == text.replace("\r\n", "\n"):
        raise NotUnderstood("the patch changes nothing")
    return changed.replace("\n", ending)


def _apply(text: str, block: Block) -> str:
    """Replace the lines of one block. Spaces at line ends and a different common indentation are ignored."""
    if not block.search.strip():
        raise NotUnderstood("has nothing to search for")
    if "<masked-" in block.search or "<masked-" in block.replace:
        raise NotUnderstood("touches a line that was masked")
    lines = text.split("\n")
    wanted = block.search.rstrip("\n").split("\n")
    places = [at for at in range(len(lines) - len(wanted) + 1) if _same_lines(lines[at : at + len(wanted)], wanted)]
    if len(places) != 1:
        raise NotUnderstood("is not found in the code" if not places else f"fits in {len(places)} places")
    (at,) = places
    theirs, ours = _indent(wanted), _indent(lines[at : at + len(wanted)])
    replaced = block.replace.removesuffix("\n").split("\n") if block.replace.strip() else []
    moved = (f"{ours}{line.removeprefix(theirs)}" if line.strip() else "" for line in replaced)
    return "\n".join([*lines[:at], *moved, *lines[at + len(wanted) :]])


def _same_lines(lines: list[str], wanted: list[str]) -> bool:
    def bare(each: list[str]) -> list[str]:
        return [line.rstrip() for line in textwrap.dedent("\n".join(each)).split("\n")]

    return bare(lines) == bare(wanted)


def _indent(lines: list[str]) -> str:
    filled = [line for line in lines if line.strip()]
    return min((line[: len(line) - len(line.lstrip())] for line in filled), key=len, default="")
