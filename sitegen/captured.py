"""What torch printed when a program ran, beside what the registry says it prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.messages import ParsedMessage, parse_message
from registry.model import DatedRevision, Evidence, Example, GraphBreak
from registry.source_text import is_source_code
from registry.templates import collapse
from registry.versions import version_key

_GAPS = {
    "context": "The registry gives no context.",
    "explanation": "The registry gives no explanation.",
    "hints": "The registry gives no hints.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One part of a message: as it was printed, and as it is registered."""

    anchor: str
    title: str
    printed: tuple[str, ...]
    registered: tuple[str, ...]
    """Empty for a gap."""
    label: str
    is_list: bool = False

    @property
    def alike(self) -> bool:
        return sorted(map(collapse, self.printed)) == sorted(map(collapse, self.registered))

    @property
    def gap(self) -> str:
        return _GAPS.get(self.anchor, "")


def evidence_to_show(gb: GraphBreak | Example) -> Evidence | None:
    """The newest run in which the program gave its own break; of two devices the CPU, which everybody has."""
    fitting = [seen for seen in gb.fresh_evidence if seen.message and seen.shows_it]
    order = lambda seen: (version_key(seen.environment.torch), seen.environment.device == "cpu")  # noqa: E731
    return max(fitting, key=order, default=None)


def own_message(gb: GraphBreak, message: str) -> ParsedMessage:
    """The part of a message that is this break: it may be the cause of the last one, or be caused by others."""
    whole = parse_message(message)
    titles = {dated.revision.gb_type for dated in gb.revisions}
    for part in (whole, *whole.causes):
        if part.link == gb.gb_id or (not part.link and part.gb_type in titles):
            return part
    return whole


def wording_fields(gb: GraphBreak, dated: DatedRevision, shown: Evidence | None) -> Iterator[Field]:
    """The four fields of a wording that Dynamo's registry has, in its order."""
    printed = own_message(gb, shown.message) if shown else ParsedMessage()
    revision = dated.revision
    hints = tuple("".join(group) for group in dated.hints if "".join(group).strip())
    yield _field("graph-break-type", "Type", (printed.gb_type,), (revision.gb_type,))
    yield _field("context", "Context", (printed.context,), (revision.context,))
    yield _field("explanation", "Explanation", (printed.explanation,), (revision.explanation,))
    yield _field("hints", "Hints", printed.hints, hints, is_list=True)


def _field(
    anchor: str, title: str, printed: Sequence[str], registered: Sequence[str], *, is_list: bool = False
) -> Field:
    texts = tuple(text for text in registered if text.strip())
    source = bool(texts) and all(is_source_code(text) for text in texts) and anchor != "graph-break-type"
    return Field(
        anchor=anchor,
        title=title,
        printed=tuple(text for text in printed if text.strip()),
        registered=texts,
        label="In the registry (source code, not the text)" if source else "In the registry",
        is_list=is_list,
    )
