"""What came of asking about one site."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

VERIFIED = "verified"
NOT_VERIFIED = "not verified"
NO_ANSWER = "no answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A cause and a patch in a model's words; only the verdict says whether the patch can be trusted."""

    file: str
    line: int
    gb_ids: tuple[str, ...]
    model: str
    verdict: str
    """verified: it was run, there are fewer breaks, and the results are the same. not verified: `reason` says why.
    no answer: the model gave none, and `reason` says what happened; what the registry says stands."""
    reason: str = ""
    cause: str = ""
    """Not checked by anybody."""
    patch: str = ""
    """A unified diff of `file`, or of the caller's file where the site is in a library."""
    breaks_before: int | None = None
    breaks_after: int | None = None
    """Break sites of the whole program; None where the patch was not run."""
    outputs: str = ""
    """equal, differ or not compared; empty where the patch was not run."""
    notes: tuple[str, ...] = ()
    """What else the patch does: lines that are no longer printed."""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"

    def as_document(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**asdict(self), "gb_ids": list(self.gb_ids), "notes": list(self.notes)}
