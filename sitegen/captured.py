"""What torch printed when a program ran, beside what the registry says it prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from registry.messages import ParsedMessage, parse_message
from registry.model import DatedRevision, Evidence, Example, GraphBreak
from registry.source_text import is_source_code
from registry.versions import version_key

_GAPS = {
    "Context": "The registry gives no context.",
    "Explanation": "The registry gives no explanation.",
    "Hints": "The registry gives no hints.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One part of a wording, as it is registered."""

    title: str
    """Its heading, which is an address that people have."""
    texts: tuple[str, ...]
    """Empty for a gap."""

    @property
    def is_source(self) -> bool:
        """Whether it is an expression that the registry's extractor could not evaluate."""
        return self.title in _GAPS and bool(self.texts) and all(map(is_source_code, self.texts))

    @property
    def gap(self) -> str:
        return _GAPS.get(self.title, "")


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


def wording_fields(dated: DatedRevision) -> Iterator[Field]:
    """The four fields of a wording that Dynamo's registry has, in its order."""
    revision = dated.revision
    fields = {
        "Graph break type": [revision.gb_type],
        "Context": [revision.context],
        "Explanation": [revision.explanation],
        "Hints": ["".join(group) for group in dated.hints],
    }
    for title, texts in fields.items():
        yield Field(title=title, texts=tuple(text for text in texts if text.strip()))
