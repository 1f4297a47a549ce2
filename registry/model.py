"""The vocabulary: what the registry knows, as frozen dataclasses. No module here touches the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from registry.ids import is_local
from registry.measured import Measurements
from registry.versions import version_key, within


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One wording of a graph break, as Dynamo's registry has it."""

    gb_type: str
    context: str
    explanation: str
    hints: tuple[str, ...] = ()

    @property
    def gaps(self) -> tuple[str, ...]:
        """The fields that are empty: absent to a reader, though present to a parser."""
        found = []
        if not self.context.strip():
            found.append("context")
        if not self.explanation.strip():
            found.append("explanation")
        if not any(hint.strip() for hint in self.hints):
            found.append("hints")
        return tuple(found)


Wordings = Mapping[str, tuple[Revision, ...]]
"""gb_id -> revisions, newest first: the content of one registry file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """The line in torch's source that emits a break."""

    gb_type: str
    gb_id: str | None
    """The id that release prints for this type; None when it prints no link."""
    file: str
    line: int
    function: str
    joined_hints: tuple[str, ...] = ()
    """Hints that are one literal here but several fragments in the registry, whose extractor splits them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One torch release: which ids are registered, with what wording, and what its source emits."""

    torch: str
    wheel: str
    wordings: Wordings
    call_sites: tuple[CallSite, ...]
    built: str = ""
    """The day its wheel was built, which comes before the day it was released; empty when not known."""

    @property
    def tag(self) -> str:
        """The git tag in pytorch's repository."""
        return f"v{self.torch}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the wordings on the site came from, and when they were fetched."""

    source: str
    retrieved: str
    sha256: str
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A kind of break in the words of a user."""

    key: str
    title: str
    why: str
    way_out: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """The hand-written block of a page, and the gb_type it was written for."""

    text: str
    written_for: str

    def __bool__(self) -> bool:
        return bool(self.text.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedRevision:
    """A wording together with the releases that registered it as their newest."""

    revision: Revision
    releases: tuple[str, ...]
    hints: tuple[tuple[str, ...], ...] = ()
    """The revision's hints as a reader should see them: fragments of one literal grouped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InRelease:
    """What one release knows of one id."""

    torch: str
    registered: bool
    call_sites: tuple[CallSite, ...]

    @property
    def live(self) -> bool:
        return bool(self.call_sites)


@dataclass(frozen=True, kw_only=True)  # no slots, here and below: what every page asks for is worked out once
class History:
    """One id across all releases, oldest first."""

    releases: tuple[InRelease, ...] = ()
    reworded_in: tuple[str, ...] = ()
    meaning_changed_in: tuple[str, ...] = ()

    @cached_property
    def first_release(self) -> str | None:
        return next((seen.torch for seen in self.releases if seen.registered), None)

    @property
    def since_known(self) -> tuple[InRelease, ...]:
        """The releases from the first that knew the id, registered or emitted."""
        known = [at for at, seen in enumerate(self.releases) if seen.registered or seen.live]
        return self.releases[known[0] :] if known else ()

    @property
    def last_live(self) -> str | None:
        return next((seen.torch for seen in reversed(self.releases) if seen.live), None)

    def of(self, torch: str) -> InRelease:
        """What one release knows of the id; nothing, where the release itself is not known."""
        unknown = InRelease(torch=torch, registered=False, call_sites=())
        return next((seen for seen in self.releases if seen.torch == torch), unknown)

    @property
    def live(self) -> bool:
        """Whether the newest release's source emits it."""
        return bool(self.releases) and self.releases[-1].live

    @cached_property
    def retired_in(self) -> str | None:
        """The release whose source stopped emitting it, for one that was emitted before."""
        return self.silent_since(self.releases[-1].torch) if self.releases else None

    def silent_since(self, torch: str) -> str | None:
        """The release since which, up to this one, no source emits it; None if this one does, or none did before."""
        past = [seen for seen in self.releases if version_key(seen.torch) <= version_key(torch)]
        live = [at for at, seen in enumerate(past) if seen.live]
        return past[live[-1] + 1].torch if live and not past[-1].live else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repro:
    """A program that causes a break, and its fixes."""

    name: str
    """Of its file: `GB0007`, or `GB0007_time` for another of the same id."""
    gb_id: str
    lead: str
    source: str
    sha256: str
    """Of its code; captions and comments do not count."""
    fixes: Mapping[str, str]
    """Name of the function -> its kind: rewrite, flag or custom op."""
    isolated: tuple[str, ...]
    no_fix: str = ""
    eager_raises: str = ""
    """The class of what the program raises without torch.compile: it is wrong in itself."""
    reach: str = "public"
    neighbour: str = ""
    """Of a contrived program: the id that people meet instead."""
    title: str = ""
    """Of its tab, where an id has several programs."""
    order: tuple[str, ...] = ()
    """Programs of its id, those that people meet most first; the others come after them."""
    gradient: Mapping[str, str] = field(default_factory=dict)
    """Fixes whose gradients are not eager's -> why, for users."""
    effects: Mapping[str, str] = field(default_factory=dict)
    """Fixes that leave something else behind -> why."""
    opaque: Mapping[str, str] = field(default_factory=dict)
    """Fixes that are one custom operator -> why that is a fix."""
    limits: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Fixes -> inputs for which they do not do the same, by their kind (LIMIT_KINDS) -> what happens, for users."""
    calls: tuple[str, ...] = ()
    """For searching: what it uses by name, where it breaks."""
    uses: tuple[str, ...] = ()
    """What its fixes and settings use by name."""
    captions: tuple[str, ...] = ()
    """When to choose which of its fixes."""

    def limits_of(self, fix: str) -> tuple[str, ...]:
        """Where a fix does not hold, a sentence each."""
        return tuple(f"Not for {LIMIT_KINDS[kind]}: {said}" for kind, said in self.limits.get(fix, {}).items())


LIMIT_KINDS = {
    "size": "other sizes",
    "zero": "zeros",
    "negative": "negative numbers",
    "nan": "NaN",
    "inf": "infinity",
    "large": "large numbers",
    "strided": "tensors that are not contiguous",
    "dtype": "other dtypes",
    "number": "other numbers of Python",
    "other side": "inputs that take the other branch",
}
"""Kinds of inputs that a fix is tried on besides those of its program -> what users call them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreached:
    """Why there is no program for an id."""

    category: str
    evidence: str
    environment: str = ""
    """Where a program could be run, and was not: `Python 3.14`. Empty if no code reaches it anywhere."""
    releases: str = ""
    """The releases of torch of which that is true, `>=2.14`; empty for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Where a repro ran."""

    torch: str
    python: str
    device: str
    date: str = ""

    @property
    def order(self) -> tuple[object, ...]:
        """The oldest release first."""
        return version_key(self.torch), self.device, self.python, self.date


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRun:
    """A script of a finding in one environment."""

    environment: Environment
    sha256: str
    is_wrong: bool
    """Whether compiled code gave another result than eager."""
    printed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingScript:
    """A program of `registry/finding_scripts/`: anybody can run it, and see that compiled code gives a wrong result."""

    name: str
    title: str
    text: str
    """What happens, and what should happen."""
    source: str
    sha256: str
    runs: tuple[ScriptRun, ...] = ()
    """Those of this very source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Where torch's own text contradicts what torch does."""

    gb_id: str
    kind: str
    finding: str
    evidence: str
    script: FindingScript | None = None


VERIFIER = 3
"""Raised when the runner begins to check more. 2: gradients, aliases, effects, fresh seeds. 3: the judge, which runs a
fix in eager, in double, on inputs that its author did not think of, and compares all that a program does."""
HOLDS, HOLDS_FOR_WHAT_RAN, REFUSED = "holds", "holds for what ran", "refused"
"""The levels of the judge. In the second, something of what a change replaces never ran, or could not be compared."""
CHANGES_GRADIENTS = "holds, but changes gradients"
"""Of a fix whose program argues in GRADIENT that its gradients differ."""
COUNTS_SINCE = 2
"""What an earlier verifier called verified is only reproduced."""
SEEDS = (0, 1, 2)
"""Of the inputs that every run has: for what is recorded, and for the lines that a program has to run."""
FRESH_SEEDS = 2
"""Drawn for every run: a fix that knows its inputs does not know these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What happened when a repro ran in an environment: backend -> verdict and message.

    What an earlier verifier called verified is reproduced here: it checked less.
    """

    environment: Environment
    repro_sha256: str
    verdicts: Mapping[str, str]
    message: str = ""
    fixes: Mapping[str, bool] = field(default_factory=dict)
    """Name of each fix -> whether it held under eager."""
    gradients: Mapping[str, str] = field(default_factory=dict)
    """Name of each fix -> `equal`, `differs`, `excused` by the file, or why gradients were not compared."""
    fails_with: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Name of a fix that held under eager -> each other backend under which it did not: `always`, or `in training`."""
    tried: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name of each fix -> the kinds of other inputs (LIMIT_KINDS) on which it was tried."""
    never_reached: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name of each fix -> the parts of the program that it replaces and that no input reached: `4: raise ...`."""
    verifier: int = 1
    """Which verifier made it; the first did not compare gradients."""
    ids: tuple[str, ...] = ()
    """Every id that the program gave under eager."""
    kind: str = ""
    """What became of the frame under eager: resumed, frame skipped or fatal."""
    graphs: int | None = None
    function: str = ""
    """The function, class or other statement of the repro that broke."""
    line: int | None = None
    """Which of its lines of code."""

    @property
    def verdict(self) -> str:
        """Under eager, the backend that every environment has."""
        return self.verdicts.get("eager", "not run")

    @property
    def shows_it(self) -> bool:
        """Whether the program gave its own id."""
        return self.verdict in PROVEN


PROVEN = ("verified", "reproduced")
"""Verdicts of a program that gives its own id."""

_FROM_BEST = ("verified", "reproduced", "stopped", "other id", "failed", "not applicable", "not run")


def _rank(seen: Evidence) -> int:
    return _FROM_BEST.index(seen.verdict)


def _best_runs(evidence: Iterable[Evidence]) -> dict[tuple[str, str], Evidence]:
    """(release, device, or empty for any) -> the run that shows most there."""
    best: dict[tuple[str, str], Evidence] = {}
    for seen in sorted(evidence, key=_rank):
        best.setdefault((seen.environment.torch, ""), seen)
        best.setdefault((seen.environment.torch, seen.environment.device), seen)
    return best


@dataclass(frozen=True, kw_only=True)
class Example:
    """A program, and what was seen of it."""

    repro: Repro
    evidence: tuple[Evidence, ...] = ()

    @cached_property
    def fresh_evidence(self) -> tuple[Evidence, ...]:
        """What was seen of the program as it is now."""
        return tuple(seen for seen in self.evidence if seen.repro_sha256 == self.repro.sha256)

    @cached_property
    def _best_runs(self) -> dict[tuple[str, str], Evidence]:
        return _best_runs(self.fresh_evidence)

    def best_run(self, torch: str, device: str = "") -> Evidence | None:
        """What shows most of it in a release, on one device or on any."""
        return self._best_runs.get((torch, device))

    def verdict_in(self, torch: str, device: str = "") -> str:
        """What that run says; `not run` where there is none."""
        best = self.best_run(torch, device)
        return best.verdict if best else "not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenBreak:
    """A type of break in somebody's own program, and how often."""

    gb_id: str
    """As its torch printed it; a local one where it printed none."""
    wording: Revision
    """The registry's: what torch filled in was the program's own."""
    sites: int
    """Lines of the program that break so."""
    compiled: int
    """Compilations of a frame that broke so."""
    ran: int | None
    """How often it broke the graph while the program ran; None where that could not be counted."""
    kinds: Mapping[str, int] = field(default_factory=dict)
    """What became of the frames -> at how many of the sites."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedProgram:
    """What was seen of somebody's own program: no path, no source, nothing that it computes with."""

    name: str
    environment: Environment
    breaks: tuple[SeenBreak, ...]
    about: str = ""
    totals: Mapping[str, int] = field(default_factory=dict)
    """graphs, ops, frames, compilations, recompiles: of the whole program, where known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A break seen in somebody's own program: where, and how often."""

    name: str
    environment: Environment
    sites: int
    compiled: int
    ran: int | None = None
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class GraphBreak:
    """Everything known of one id."""

    gb_id: str
    revisions: tuple[DatedRevision, ...]
    history: History = History()
    registered: bool = True
    """Whether the upstream registry still has it."""
    category: str = "uncategorised"
    note: Note | None = None
    repro: Repro | None = None
    evidence: tuple[Evidence, ...] = ()
    """Of the repro."""
    examples: tuple[Example, ...] = ()
    """Other programs for this id."""
    sightings: tuple[Sighting, ...] = ()
    unreached: Unreached | None = None
    findings: tuple[Finding, ...] = ()
    aliases: tuple[str, ...] = ()
    """What people call it; for searching."""

    def __hash__(self) -> int:
        return hash(self.gb_id)

    @property
    def newest(self) -> Revision:
        return self.revisions[0].revision

    @property
    def gb_type(self) -> str:
        return self.newest.gb_type

    @property
    def local(self) -> bool:
        """Captured here; upstream has no id for it."""
        return is_local(self.gb_id)

    @cached_property
    def programs(self) -> tuple[Example, ...]:
        """Every program for this id, with what was seen of it; the repro first."""
        return (Example(repro=self.repro, evidence=self.evidence), *self.examples) if self.repro else ()

    def programs_for(self, torch: str) -> tuple[Example, ...]:
        """Every program, those that show most in this release first; of these, what people meet most."""
        order = self.repro.order if self.repro else ()

        def rank(program: Example) -> tuple[int, int]:
            best, name = program.best_run(torch), program.repro.name
            return _rank(best) if best else len(_FROM_BEST), order.index(name) if name in order else len(order)

        return tuple(sorted(self.programs, key=rank))

    @property
    def fresh_evidence(self) -> tuple[Evidence, ...]:
        """What was seen of the repro as it is now; a record of an older text proves nothing."""
        return self.programs[0].fresh_evidence if self.programs else ()

    @cached_property
    def best_evidence(self) -> tuple[Evidence, ...]:
        """Per environment, in their order, that of the program which shows most there under eager."""
        best: dict[Environment, Evidence] = {}
        for seen in (one for program in self.programs for one in program.fresh_evidence):
            known = best.setdefault(seen.environment, seen)
            if _rank(seen) < _rank(known):
                best[seen.environment] = seen
        return tuple(best[place] for place in sorted(best, key=lambda place: place.order))

    def unreached_in(self, torch: str) -> Unreached | None:
        """Why no program causes it in this release; None if nothing says so."""
        known = self.unreached
        return known if known and (not known.releases or within(torch, known.releases)) else None

    @cached_property
    def _best_runs(self) -> dict[tuple[str, str], Evidence]:
        return _best_runs(self.best_evidence)

    def best_run(self, torch: str, device: str = "") -> Evidence | None:
        """What shows most of it in a release, on one device or on any."""
        return self._best_runs.get((torch, device))

    def verdict_in(self, torch: str, device: str = "") -> str:
        """What that run says; `not run` where there is none."""
        best = self.best_run(torch, device)
        return best.verdict if best else "not run"

    @cached_property
    def newest_proof(self) -> Evidence | None:
        """Of the newest release in which a program gives it."""
        return next((seen for seen in reversed(self.best_evidence) if seen.shows_it), None)

    def status_in(self, torch: str, device: str = "") -> str:
        """What is proven of it in one release: verified, reproduced, or why it is neither.

        absent: the release does not know it; retired: it knows it, and its source does not emit it. Of what the
        source emits, unreached: no program can cause it; not-run: it needs an environment in which none was run;
        elsewhere: a program causes it, but only in another environment; open: there is no program yet.
        """
        best, known = self.best_run(torch, device), self.history.of(torch)
        if best and best.shows_it:
            return best.verdict
        if self.history.releases and not known.live and not self.local:
            return "retired" if known.registered else "absent"
        if reason := self.unreached_in(torch):
            return "not-run" if reason.environment else "unreached"
        if self.newest_proof:
            return "elsewhere"
        could_run = any(_rank(seen) < _FROM_BEST.index("not applicable") for seen in self.best_evidence)
        return "not-run" if self.programs and not could_run else "open"

    @cached_property
    def status(self) -> str:
        """What is proven of it in the newest release."""
        return self.status_in(self.history.releases[-1].torch if self.history.releases else "")

    @cached_property
    def lifecycle(self) -> str:
        """live, retired (no longer emitted), dropped (gone from the registry) or local."""
        if self.local:
            return "local"
        if not self.registered:
            return "dropped"
        if self.history.releases and not self.history.live and self.history.first_release:
            return "retired"
        return "live"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counsel:
    """What to say to those whose code has something that no fix was tried on."""

    globs: tuple[str, ...]
    text: str
    """Markdown."""
    program: str = ""
    """Of a program that proves it, in registry/messages/."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fits:
    """Which of an id's fixes are right for which messages."""

    names: tuple[str, ...]
    """Regular expressions whose group is what the user's code has."""
    fixes: Mapping[str, tuple[str, ...]]
    """A fix -> globs of what it is right for."""
    counsels: tuple[Counsel, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A text that torch prints outside of its layout for breaks, and what it stands for: one of the three."""

    text: str
    """With `{placeholders}`."""
    gb_ids: tuple[str, ...] = ()
    slug: str = ""
    """Of the message that is no graph break."""
    gone: str = ""
    """The release, "2.4", since which torch has no such break any more."""
    releases: str = ""
    """"2.0–2.6", where known."""
    marked: bool = False
    """It follows a marker such as `Unsupported: `; by itself it says too little."""
    beside: bool = False
    """Other programs print it, too: it counts beside words of torch's compiler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMessage:
    """Something that torch prints that is no graph break; it has a page under /messages/."""

    slug: str
    title: str
    short: str
    """What it is; goes on from "This is not a graph break: "."""
    releases: str
    forms: tuple[str, ...]
    beside: tuple[str, ...]
    """Forms that other programs print, too."""
    frames: tuple[str, ...]
    """Parts of paths: a traceback that was cut ends in one of these."""
    meaning: str
    """Markdown."""
    ways_out: tuple[str, ...]
    """Markdown, the commonest first."""
    see: tuple[str, ...] = ()
    """Ids and other messages."""
    surface: int = 0
    """It only wraps another error, which is the one to look at; the higher, the further outside."""
    is_warning: bool = False
    """The program goes on after it."""

    @property
    def page(self) -> str:
        return f"messages/{self.slug}.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRun:
    """What came of running a message's program in an environment."""

    environment: Environment
    sha256: str
    """Of the program that was run."""
    printed: str
    """The message, as torch printed it; empty if it did not come."""
    fixes: Mapping[str, bool]
    """Each fix -> whether the message stayed away and the result equals eager."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageProgram:
    """A program that causes a message, and ways to do the same work without it."""

    name: str
    lead: str
    parts: Mapping[str, str]
    """Function -> the module of it that is run: with what it needs of the file, and nothing else."""
    sha256: str
    fixes: Mapping[str, str]
    """Function -> when to choose it."""
    environment: Mapping[str, str]
    """Variables that the process needs."""
    device: str
    runs: tuple[MessageRun, ...] = ()
    """Those of this very source, oldest release first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A part of the troubleshooting page."""

    key: str
    title: str
    text: str
    messages: tuple[OtherMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A part of a lesson: text in Markdown, or code."""

    text: str = ""
    code: str = ""
    line: int = 0
    """Where the code starts in the file, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOutput:
    """What a cell of code printed, and the SVG that its last expression has."""

    text: str = ""
    picture: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonRun:
    """A lesson in one environment."""

    environment: Environment
    sha256: str
    outputs: tuple[CellOutput, ...]
    """One per cell of code."""
    device_name: str
    """Such as "NVIDIA H200" or "aarch64"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A program of `examples/` that teaches something."""

    name: str
    title: str
    lead: str
    explains: tuple[str, ...]
    """Ids, keys of categories, and names of messages."""
    file: str
    cells: tuple[Cell, ...]
    sha256: str
    runs: tuple[LessonRun, ...] = ()
    """Those of this very code, on the CPU first."""

    def uses(self, device: str) -> bool:
        """Whether it puts tensors on this device where there is one; all lessons run on the CPU."""
        return any(f'"{device}"' in cell.code for cell in self.cells)

    @property
    def page(self) -> str:
        """Its page. That of `start` is the page of all lessons."""
        return f"learn/{'index' if self.name == 'start' else self.name.replace('_', '-')}.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """All of it, sorted by id."""

    breaks: tuple[GraphBreak, ...]
    categories: tuple[Category, ...]
    releases: tuple[str, ...]
    """torch versions, oldest first."""
    origin: Origin
    built: Mapping[str, str] = field(default_factory=dict)
    """torch version -> the day its wheel was built, where known."""
    unregistered: tuple[CallSite, ...] = ()
    """Live call sites of the newest release whose type has no id."""
    environments: tuple[Environment, ...] = field(default=())
    measurements: Measurements = field(default_factory=Measurements)
    programs: tuple[CapturedProgram, ...] = ()
    """Other people's programs in which breaks were seen, by name."""
    other_messages: tuple[OtherMessage, ...] = ()
    forms: tuple[Form, ...] = ()
    """Of other messages, of ids, and wordings of torch 2.0 to 2.7."""
    message_programs: Mapping[str, MessageProgram] = field(default_factory=dict)
    lessons: tuple[Lesson, ...] = ()
    notebooks: tuple[Lesson, ...] = ()
    topics: tuple[Topic, ...] = ()
    """Of the troubleshooting page."""
    fits: Mapping[str, Fits] = field(default_factory=dict)
    """By id; see registry.fits."""
    glossary: Mapping[str, str] = field(default_factory=dict)
    """Term -> what it means, sorted; see registry.glossary."""

    def __iter__(self) -> Iterator[GraphBreak]:
        return iter(self.breaks)

    def __len__(self) -> int:
        return len(self.breaks)

    def in_category(self, key: str) -> tuple[GraphBreak, ...]:
        return tuple(gb for gb in self.breaks if gb.category == key)
