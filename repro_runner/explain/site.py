"""The data of a report: the lines at which graphs break, and what they cost. This module does not need torch.

A watched run, a log and a saved report all use these classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from repro_runner.capture.breaks import UserFrame

LIMIT = "limit exceeded"
"""In all releases, the type of the break that ends a function's compilations contains this."""
ONE_GRAPH = "torch.compile stopped here with an error: the program asks for one graph (fullgraph=True)"
EXPORT_STOPPED = "torch.export stopped here with an error"
"""Why a fatal break was not counted."""
NO_ANSWER = "no answer"
"""Instead of a level, when no suggestion came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recompile:
    """A frame that was compiled again, and the guard that failed, in torch's words."""

    function: str
    file: str
    line: int
    """The first line of the function. For the rest of a function after a break, the line of the break."""
    guard: str
    compile_id: str
    seconds: float
    hint: str = ""
    """What torch says about this guard; empty for most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaGraphSkip:
    """A graph for which CUDA graphs were asked for and not used."""

    function: str
    """The function whose graph it is, or the one that torch names as the cause; empty if neither is known."""
    file: str
    line: int
    reason: str
    """In torch's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency:
    """How often a site broke the graph while the program ran. None if not counted; then `why_unknown` says why."""

    ran: int | None
    why_unknown: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The time lost at a break: from the end of the graph before it to the start of the next graph."""

    per_call: float | None = None
    """Seconds: the median of `calls` calls of compiled functions; None if it was not measured."""
    calls: int = 0
    """The calls that reached the break and compiled nothing."""
    why_unknown: str = ""

    @property
    def total(self) -> float:
        """The seconds lost in all these calls."""
        return (self.per_call or 0.0) * self.calls


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFix:
    """A fix of the user's own code. It was run, together with the fixes of the program's other breaks."""

    title: str = ""
    """What it does; empty if no fix held, and then `why_none` says why."""
    changes: str = ""
    """What else it changes, besides the breaks; empty if nothing."""
    diff: str = ""
    """A unified diff of the program's file, or of another file that the fixed program patches."""
    breaks_before: int = 0
    breaks_after: int = 0
    """Break sites of the whole program, without and with all its fixes."""
    outputs: str = ""
    """How the outputs compare, and how they were compared."""
    verdict: str = ""
    """holds, or holds for what ran."""
    reason: str = ""
    """What never ran or was not compared; empty if it holds."""
    why_none: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithFixes:
    """How long the compiled calls of a program take, with and without all its verified fixes."""

    why_unknown: str = ""
    """Why it was not measured; empty if it was."""
    breaks_before: int = 0
    breaks_after: int = 0
    seconds_before: float = 0.0
    seconds_after: float = 0.0
    """The calls of compiled functions that compiled nothing: the median of a function's calls times their number."""
    faster: float | None = None
    """The time without the fixes over the time with them, in the round that is in the middle by that."""
    rounds: int = 0
    """In a round both programs run once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One cause of breaks at one line of the user's code, in all frames in which that line was compiled."""

    gb_ids: tuple[str, ...]
    """The id of the cause, then the ids that it was reported as: GB0025, GB7000 in a loop. Empty if no id is known."""
    gb_types: tuple[str, ...]
    """The type of each id. If no id is known, the type of the break."""
    file: str = ""
    """Empty if a log does not name the file."""
    line: int = 0
    function: str = ""
    source: str = ""
    columns: tuple[tuple[int, int], ...] = ()
    """(start, end) of each expression that breaks, in UTF-8 bytes of the line; empty if not known. The end of an
    expression with several lines is a column of its last line."""
    kind: str = ""
    """The worst of KINDS that happened at this site."""
    kinds: Mapping[str, int] = field(default_factory=dict, hash=False)
    """What became of each of its compilations: kind -> number. Empty for a log."""
    untraced: tuple[int, int] | None = None
    """First and last line of the rest of a function that was given up here. Dynamo never looked at them."""
    follows: str = ""
    """`file:line` of the site whose function was given up, so that Dynamo started anew in what it calls."""
    message: str = ""
    """torch's message for the cause. In a log, the message that torch reported in the end."""
    context: str = ""
    explanation: str = ""
    hints: tuple[str, ...] = ()
    stack: tuple[UserFrame, ...] = ()
    """The user's frames at the first break, from the outermost frame that was being compiled to the site."""
    compiled: int = 1
    """In how many compilations the graph broke here. In a log, the number of reports."""
    frequency: Frequency = Frequency(ran=None)
    ops_before: int | None = None
    """Number of ops in the graph that ends here, in its newest compilation; None if there is no graph."""
    ops_after: int | None = None
    """Number of ops in the first graph after the break."""
    recompiles: tuple[Recompile, ...] = ()
    """Recompiles of the frames that break here, and of the rests after the break."""
    lost_seconds: float = 0.0
    """Compilation time that this break cost: attempts thrown away, and frames that resume after it."""
    cost: Cost | None = None
    """What the break costs while the program runs; None if nobody asked."""
    own_fix: OwnFix | None = None
    """The fix of the user's own code; None if nobody asked."""
    compile_ids: tuple[str, ...] = ()
    """The compile ids. If a log has many, only the first ones."""
    sites: int = 1
    """More than 1 if lines are not known, and all lines with one type of break are counted together."""
    how: str = ""
    """How the id of a break in a log was found: link, type, wording, form or none."""
    gone: str = ""
    """The release, "2.4", since which torch has no such break any more; only for the wording of an old release."""
    worded_by: str = ""
    """The releases, "2.0–2.6", whose words these are, if no newer release prints them."""
    candidates: tuple[str, ...] = ()
    """Other ids that fit the text in a log, the most likely first."""
    ranks: Mapping[str, int] = field(default_factory=dict, hash=False)
    """How often in each rank, or in each process that is no rank; empty if there is only one."""
    log: str = ""
    """The log with the first report; empty for a run that was watched."""
    log_line: int = 0
    """The line of the first report in that log, counted from 1."""

    @property
    def where(self) -> str:
        """`file:line`; empty if the file is not known."""
        return f"{self.file}:{self.line}" if self.file else ""

    @property
    def gb_id(self) -> str:
        """The id of the cause; empty if no id is known."""
        return self.gb_ids[0] if self.gb_ids else ""

    @property
    def gb_type(self) -> str:
        """The type of the cause; empty if it is not known."""
        return self.gb_types[0] if self.gb_types else ""

    @property
    def past_limit(self) -> bool:
        """Whether a function reached the recompile limit here."""
        return LIMIT in self.gb_type

    @property
    def guards(self) -> tuple[str, ...]:
        """The guards that failed before a function reached the recompile limit here, with torch's hints."""
        return tuple(f"{one.guard} {one.hint}".strip() for one in self.recompiles if self.past_limit)

    @property
    def ran(self) -> int | None:
        return self.frequency.ran

    @property
    def count(self) -> int:
        """How often it ran. If that is not known, how often it was compiled."""
        return self.compiled if self.ran is None else self.ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The totals of the whole program."""

    graphs: int = 0
    ops: int = 0
    frames: int = 0
    """Functions, and rests of functions, that Dynamo compiled at least once."""
    compilations: int = 0
    compile_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How much of a program ran inside graphs. Op calls before the first compiled call are set-up, and not counted."""

    why_unknown: str = ""
    """Why nothing was measured; empty if it was."""
    ops_inside: int = 0
    """Op calls inside graphs. A graph is run op by op to count them, so that the unit is the same as outside."""
    ops_between: int = 0
    """Op calls inside calls of compiled functions, but outside of graphs."""
    ops_elsewhere: int = 0
    """Op calls in code that nothing compiles."""
    ops_before: int = 0
    """Op calls before the first compiled call."""
    calls_whole: int = 0
    """Calls of compiled functions without a break."""
    calls_broken: int = 0
    """Calls with a break: a graph ran, and something else."""
    calls_plain: int = 0
    """Calls that ran ops, and no graph."""
    calls_empty: int = 0
    """Calls that ran no op at all, such as the call of a generator function, whose code runs later."""
    plain: Mapping[str, int] = field(default_factory=dict, hash=False)
    """`name (file:line)` of a compiled function -> how many of its calls ran as plain Python."""
    time_share: float | None = None
    """The part of the time of `timed_calls` calls inside graphs, from 0 to 1."""
    timed_calls: int = 0
    """Calls that compiled nothing. The others are left out."""
    why_no_time: str = ""

    @property
    def ops(self) -> int:
        """All op calls that count."""
        return self.ops_inside + self.ops_between + self.ops_elsewhere

    @property
    def per_cent(self) -> float | None:
        """The per cent of op calls inside graphs; None if it was not measured, or if there are none."""
        return None if self.why_unknown or not self.ops else 100 * self.ops_inside / self.ops


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What was run, and how it ended."""

    name: str = ""
    """The script or module, as the user wrote it; empty for an `explain()` block."""
    arguments: tuple[str, ...] = ()
    exit_code: int | None = None
    error: str = ""
    """The class and message of what it raised; empty if it did not fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One of several processes of a program."""

    name: str
    """`rank 1`, or the name of a process that is no rank."""
    totals: Totals = Totals()
    sites: int = 0
    note: str = ""
    """Why what is known of it is not complete; empty if it is."""


@dataclass(slots=True, kw_only=True, repr=False)
class Observed:
    """Everything that was recorded about a program. The most frequent site comes first."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """As in an evidence file: torch, python, device, platform, date, project."""
    program: Program = Program()
    sites: tuple[Site, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    """All recompiles of the program, including those at sites."""
    totals: Totals = Totals()
    cuda_graph_skips: tuple[CudaGraphSkip, ...] = ()
    share: Share | None = None
    """How much ran inside graphs; None if nobody asked. It needs further runs of the program."""
    with_fixes: WithFixes | None = None
    """The program with and without its verified fixes; None if nobody asked."""
    reports: int = 0
    """How many breaks torch's own log reports; 0 if it could not be read. A compilation that starts again reports its
    breaks again."""
    unlisted: Mapping[str, int] = field(default_factory=dict)
    """`file:line` -> how many reports in torch's own log are not at a site. It is a fault of this program."""
    compared: bool = True
    """Whether the sites were compared with torch's log. They are not if the program sets up the log itself."""
    processes: tuple[Process, ...] = ()
    """The processes in which something was compiled, and those that could not be watched; empty if there is only the
    program's own."""
    differences: tuple[str, ...] = ()
    """Where ranks part: one line per difference."""

    def __iter__(self) -> Iterator[Site]:
        return iter(self.sites)

    def __len__(self) -> int:
        return len(self.sites)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A cause and a patch that a language model wrote. The verdict says whether the patch can be trusted."""

    file: str
    line: int
    gb_ids: tuple[str, ...]
    model: str
    verdict: str
    """holds: the patch was run, there are fewer breaks, and the program does the same. holds for what ran: so far as it
    ran. refused: `reason` says why. no answer: the model gave none; the registry's answer stays."""
    reason: str = ""
    cause: str = ""
    """The model's explanation, which is not checked."""
    patch: str = ""
    """A unified diff of `file`, or of the caller's file if the site is in a library."""
    breaks_before: int | None = None
    breaks_after: int | None = None
    """Break sites of the whole program; None if the patch was not run."""
    outputs: str = ""
    """equal, differ or not compared; empty if the patch was not run."""
    notes: tuple[str, ...] = ()
    """Other effects of the patch, such as lines that are no longer printed."""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"

    def as_document(self) -> dict[str, Any]:
        """The suggestion as JSON values."""
        return {**asdict(self), "gb_ids": list(self.gb_ids), "notes": list(self.notes)}
