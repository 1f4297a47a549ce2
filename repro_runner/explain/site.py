"""What was seen of a program: the lines at which its graphs break, and what it all cost. No torch here.

A watched run, a log and a saved report all fill the same classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from repro_runner.capture.breaks import UserFrame

VERIFIED = "verified"
NOT_VERIFIED = "not verified"
NO_ANSWER = "no answer"
"""Verdicts on what a language model suggests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recompile:
    """A frame that was compiled again, and the guard that failed, in torch's words."""

    function: str
    file: str
    line: int
    """Where the function starts; of the rest of a function after a break, the line of the break."""
    guard: str
    compile_id: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency:
    """How often a site broke the graph while the program ran; None where it was not counted, and `why_unknown`."""

    ran: int | None
    why_unknown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One cause of breaks at one line of the user's code, in whatever frames it was compiled."""

    gb_ids: tuple[str, ...]
    """The cause first, then what it surfaced as: a break in a loop is GB0025, GB7000. Empty where no id is known."""
    gb_types: tuple[str, ...]
    """The type of each id; of an unknown break, its own."""
    file: str = ""
    """Empty where a log does not say."""
    line: int = 0
    function: str = ""
    source: str = ""
    columns: tuple[tuple[int, int], ...] = ()
    """From where to where, in UTF-8 bytes of the whole line, the expressions stand that break; empty where that is not
    known. One that goes on in later lines ends at a column of its last."""
    kind: str = ""
    """The worst that came of it, one of KINDS."""
    message: str = ""
    """As torch put it, of the cause; in a log, of all that it surfaced as."""
    context: str = ""
    explanation: str = ""
    hints: tuple[str, ...] = ()
    stack: tuple[UserFrame, ...] = ()
    """From the outermost frame that was being compiled to the site, at its first break."""
    compiled: int = 1
    """In how many compilations of a frame the graph broke here; a log reports each."""
    frequency: Frequency = Frequency(ran=None)
    ops_before: int | None = None
    """Ops in the graph that ends here, in its newest compilation; None where there is none."""
    ops_after: int | None = None
    """Ops in the first graph that begins after it."""
    recompiles: tuple[Recompile, ...] = ()
    """Of the frames that break here, and of what follows the break."""
    lost_seconds: float = 0.0
    """Compilation that would not have been without this break: attempts thrown away, frames that resume after it."""
    compile_ids: tuple[str, ...] = ()
    """Of a log with many, the first."""
    sites: int = 1
    """More than one where lines are not known, and all lines with one type of break are counted together."""
    how: str = ""
    """By what a log's break was named: link, type, wording or none."""
    candidates: tuple[str, ...] = ()
    """Other ids that the words in a log may stand for, likeliest first."""
    ranks: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Reports per rank; empty where a log does not tell ranks apart."""
    log: str = ""
    """The log that reports it first; empty for a run that was watched."""
    log_line: int = 0
    """Where in that log; lines count from 1."""

    @property
    def where(self) -> str:
        """`file:line`; empty where no file is known."""
        return f"{self.file}:{self.line}" if self.file else ""

    @property
    def gb_id(self) -> str:
        """Of the cause; empty where no id is known."""
        return self.gb_ids[0] if self.gb_ids else ""

    @property
    def gb_type(self) -> str:
        """Of the cause."""
        return self.gb_types[0] if self.gb_types else ""

    @property
    def ran(self) -> int | None:
        return self.frequency.ran

    @property
    def count(self) -> int:
        """How often it ran; where that is not known, how often it was compiled."""
        return self.compiled if self.ran is None else self.ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Of the whole program."""

    graphs: int = 0
    ops: int = 0
    frames: int = 0
    """Functions, and rests of functions, that Dynamo compiled at least once."""
    compilations: int = 0
    compile_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What was run, and how it ended."""

    name: str = ""
    """The script or module, as it was given; empty for a block of Python."""
    arguments: tuple[str, ...] = ()
    exit_code: int | None = None
    error: str = ""
    """What it raised: class and message; empty when it ran to its end."""


@dataclass(slots=True, kw_only=True, repr=False)
class Observed:
    """What was seen of a program; its sites are sorted by cost, the most expensive first."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """As in an evidence file: torch, python, device, platform, date, project."""
    program: Program = Program()
    sites: tuple[Site, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    """All of the program's, those at sites included."""
    totals: Totals = Totals()

    def __iter__(self) -> Iterator[Site]:
        return iter(self.sites)

    def __len__(self) -> int:
        return len(self.sites)


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
    """Not checked."""
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
