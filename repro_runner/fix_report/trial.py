"""Try a changed program: does it have fewer breaks than the original, and the same results?

Both run in their own processes, in the current folder, with the program's arguments. Files that the program writes are
written again. The changed text runs under the original file's name, so that it finds its data files. No file of the
user is changed. Random numbers are seeded before the program starts, and come in eager's order.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.ids import is_local
from registry.message_layout import EXPLANATION
from repro_runner.explain.document import report_from_document
from repro_runner.explain.program import find_main
from repro_runner.explain.render.sentences import unlisted
from repro_runner.explain.report import Report
from repro_runner.explain.site import Site
from repro_runner.fix_report.children import Children, Run
from repro_runner.process import Output

if TYPE_CHECKING:
    from repro_runner.explain.program import ProgramToRun

EQUAL, DIFFER, NOT_COMPARED = "equal", "differ", "not compared"
REORDERED, LINES_REMOVED = "reordered", "lines removed"

_OF_TORCH = re.compile(
    r"^[VDIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ .*\n"
    r"|^.*[/\\]torch[/\\].*Warning: [\s\S]*?\n  .*\n"
    r"|^.*Warning: .*(?:\n(?!.*Warning: ).*)*?\(Triggered internally at .*\n  .*\n",
    re.MULTILINE,
)
"""A line of torch's log, or a warning of torch or of its C++ code with the line that it is about. They may be about
breaks, so they are ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The result of trying a change."""

    ran: bool
    """Whether the changed program ended well, or in the same way as the original."""
    error: str = ""
    """Why it did not; empty if it did."""
    breaks_before: int = 0
    breaks_after: int = 0
    """Numbers of break sites."""
    reports_before: int = 0
    reports_after: int = 0
    """How many breaks torch's own log reports."""
    doubt: str = ""
    """Why the numbers can't be trusted; empty if they can."""
    sites_before: tuple[Site, ...] = ()
    sites_after: tuple[Site, ...] = ()
    outputs: str = NOT_COMPARED
    """equal, differ or not compared. Outputs are all values that outermost compiled callables return or write into, and
    at the end of the program the parameters and gradients that they could reach."""
    difference: str = ""
    """The first difference, or why nothing was compared."""
    strictness: str = ""
    """How outputs were compared."""
    compiled_calls: int = 0
    """Calls of outermost compiled callables in the changed program."""
    stdout: str = NOT_COMPARED
    """equal, reordered (the same lines), lines removed (and none added), differ or not compared."""
    stdout_difference: str = ""
    stderr_lines_lost: int = 0
    """How many fewer lines there are. Their text is not compared, because logs contain times and line numbers."""
    graphs_before: int = 0
    graphs_after: int = 0
    ops_before: int = 0
    ops_after: int = 0
    """Ops that ran in compiled graphs. The number falls if less code is compiled."""
    seconds: float = 0.0
    """The time that the changed program took."""

    @property
    def holds(self) -> bool:
        """Whether the change is a fix: fewer breaks, the same results."""
        return self.ran and self.outputs == EQUAL and not self.why_no_fix(self.breaks_before, self.ops_before)

    def why_no_fix(self, breaks: int, ops: int) -> str:
        """Why the program is not better than one with so many breaks and ops in graphs; empty if it is.

        Torch's own log has the last word: it has to report fewer breaks. Work that left the graphs has no breaks.
        """
        if self.doubt:
            return self.doubt
        before = {(one.where, one.gb_id) for one in self.sites_before}
        moved = [site for site in self.sites_after if (site.where, site.gb_id) not in before]
        if self.breaks_after >= breaks:
            if not moved:
                return f"it leaves as many breaks: {self.breaks_after}"
            where = " and ".join(f"line {site.line} of {Path(site.file).name} ({_kind(site)})" for site in moved)
            return f"the break moves to {where}; if an earlier break hid what is there, fix it in the same patch"
        if self.reports_before and self.reports_after >= self.reports_before:
            return f"torch's own log still reports {self.reports_after} breaks, before {self.reports_before}"
        # Breaks and recompiles do not change the number of ops that run in graphs. A rewrite may need somewhat fewer.
        if self.ops_after * 4 < ops * 3 or (ops and not self.graphs_after):
            return f"it takes work out of the compiled code: {self.ops_after} ops ran in graphs, before {ops}"
        return ""


class TrialRunner:
    """Tries changes to one program. The original runs once, and once more if it may differ from itself.

    with TrialRunner(ProgramToRun(script="train.py")) as trials:
        trial = trials.try_source(changed_text)
    """

    def __init__(
        self, program: ProgramToRun, *, timeout: float = 300.0, seed: int = 0, children: Children | None = None
    ) -> None:
        """If `children` are given, the caller closes them."""
        self.program = program
        self.timeout = timeout
        self.seed = seed
        self._children = children or Children()
        self._owns_children = children is None
        self._runs: dict[tuple[int, bool], Run] = {}

    def __enter__(self) -> TrialRunner:
        return self

    def __exit__(self, *_: object) -> None:
        if self._owns_children:
            self._children.__exit__()

    def try_source(self, text: str, *, seed: int | None = None) -> Trial:
        """Try this text instead of the program's own file."""
        file = self.program.script or find_main(script="", module=self.program.module).file
        return self.try_changes({file: text}, seed=seed)

    def try_changes(self, changes: Mapping[str, str], *, seed: int | None = None) -> Trial:
        """Try these texts instead of the files at these paths.

        A seed other than 0 is added to every seed that the program sets, in both runs, for other random inputs.
        """
        seed = self.seed if seed is None else seed
        if error := _does_not_parse(changes):
            return Trial(ran=False, error=error, difference=error, stdout_difference=error)
        original = self._original(seed)
        return self._make_trial(original, self._run(changes, seed, against=original), seed)

    def _original(self, seed: int, *, again: bool = False) -> Run:
        """The run of the original program. With `again`, a second run, compared with the first."""
        if (seed, again) not in self._runs:
            against = self._original(seed) if again else None
            self._runs[seed, again] = self._run({}, seed, against=against)
        return self._runs[seed, again]

    def _run(self, changes: Mapping[str, str], seed: int, against: Run | None) -> Run:
        arguments: dict[str, Any] = {
            "program": asdict(self.program),
            "changes": dict(changes),
            "seed": seed,
            "against": {},
        }
        if against is not None and against.result:
            arguments["against"] = {"folder": str(against.folder), "backends": against.result["backends"]}
        return self._children.run("tasks:try_program", arguments, seconds=self.timeout)

    def _make_trial(self, original: Run, changed: Run, seed: int) -> Trial:
        before, after = report_of(original), report_of(changed)
        error = _failure(changed, before, after)
        why_not = error or _nothing_to_compare_with(original, before, after)
        outputs, difference = (NOT_COMPARED, why_not) if why_not else self._outputs(original, changed, seed)
        stdout, stdout_difference = (NOT_COMPARED, why_not) if why_not else self._stdout(original, changed, seed)
        return Trial(
            ran=not error,
            error=error,
            breaks_before=len(before.sites),
            breaks_after=len(after.sites),
            reports_before=before.reports,
            reports_after=after.reports,
            doubt=unlisted(after),
            sites_before=before.sites,
            sites_after=after.sites,
            outputs=outputs,
            difference=difference,
            strictness=_strictness(changed) if outputs == EQUAL else "",
            compiled_calls=changed.result.get("calls", 0),
            stdout=stdout,
            stdout_difference=stdout_difference,
            stderr_lines_lost=0 if why_not else self._stderr_lines_lost(original, changed, seed),
            graphs_before=original.result.get("graphs", 0),
            graphs_after=changed.result.get("graphs", 0),
            ops_before=original.result.get("ops_run", 0),
            ops_after=changed.result.get("ops_run", 0),
            seconds=changed.seconds,
        )

    def _outputs(self, original: Run, changed: Run, seed: int) -> tuple[str, str]:
        """(verdict, first difference). A value that differs between two runs of the original is ignored."""
        if not original.result["calls"]:
            return NOT_COMPARED, "the program calls nothing that is compiled"
        found = _differences(changed) or _calls_differ(original, changed)
        if not found:
            return EQUAL, ""
        again = self._original(seed, again=True)
        if again.failure:
            return NOT_COMPARED, f"the original program, run again, {again.failure}"
        own = _differences(again)
        if "calls" in own or (own and len(own) >= original.result["values"]):
            return NOT_COMPARED, f"the program differs from itself from run to run: {next(iter(own.values()))}"
        left = [difference for value, difference in found.items() if value not in own]
        return (DIFFER, left[0]) if left else (EQUAL, "")

    def _stdout(self, original: Run, changed: Run, seed: int) -> tuple[str, str]:
        verdict, difference = compare_text(original.stdout, changed.stdout)
        if verdict == EQUAL:
            return EQUAL, ""
        if compare_text(original.stdout, self._original(seed, again=True).stdout)[0] != EQUAL:
            return NOT_COMPARED, "what the program prints differs from run to run"
        return verdict, difference

    def _stderr_lines_lost(self, original: Run, changed: Run, seed: int) -> int:
        before = _count_stderr_lines(original)
        lost = before - _count_stderr_lines(changed)
        return max(0, lost) if lost <= 0 or _count_stderr_lines(self._original(seed, again=True)) == before else 0


def _count_stderr_lines(run: Run) -> int:
    """The number of lines on standard error, without torch's own."""
    return _OF_TORCH.sub("", run.stderr.text).count("\n")


def compare_text(expected: Output, actual: Output) -> tuple[str, str]:
    """Compare what two runs printed. Returns (verdict, a text of the first difference)."""
    if expected == actual:
        return EQUAL, ""
    before, after = expected.text.splitlines(), actual.text.splitlines()
    difference = _first_difference(before, after)
    if expected.rest_sha256 != actual.rest_sha256:
        return DIFFER, difference
    lost, added = Counter(before) - Counter(after), Counter(after) - Counter(before)
    if added:
        return DIFFER, difference
    return (LINES_REMOVED if lost else REORDERED), difference


def _first_difference(before: list[str], after: list[str]) -> str:
    for number, (one, two) in enumerate(zip(before, after, strict=False), 1):
        if one != two:
            return f"line {number}: {two!r:.120} instead of {one!r:.120}"
    return f"{len(after)} lines instead of {len(before)}"


def _kind(site: Site) -> str:
    """Its id, or the type of a break that has none on the public site."""
    return site.gb_types[0] if is_local(site.gb_id) else site.gb_id


def _does_not_parse(changes: Mapping[str, str]) -> str:
    for path, text in changes.items():
        try:
            ast.parse(text)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 0
            return f"the changed {Path(path).name} does not parse: line {line}: {error.args[0]}"
    return ""


def report_of(run: Run) -> Report:
    if not run.result:
        return Report()
    content: dict[str, Any] = run.result["report"]
    sites = [{**site, **site["frequency"]} for site in content["sites"]]
    return report_from_document({**content, "sites": sites})


def _failure(changed: Run, before: Report, after: Report) -> str:
    """How the changed program failed; empty if it ended well, or in the same way as the original."""
    if changed.failure:
        return f"the changed program {changed.failure}"
    was, ended = before.program, after.program
    if ended.error and ended.error != was.error:
        return f"the changed program fails: {_shorten_error(ended.error)}"
    if ended.exit_code and ended.exit_code != was.exit_code:
        said = f": {changed.stderr.last_line}" if changed.stderr.last_line else ""
        return f"the changed program ends with exit code {ended.exit_code}, not {was.exit_code}{said}"
    return ""


def _nothing_to_compare_with(original: Run, before: Report, after: Report) -> str:
    if original.failure:
        return f"the original program {original.failure}"
    if before.program.error and not after.program.error:
        return f"the original program itself fails: {_shorten_error(before.program.error)}"
    return ""


def _shorten_error(error: str) -> str:
    """The first line of an error, and torch's explanation."""
    lines = [line.strip() for line in error.splitlines()]
    return " ".join([*lines[:1], *(line for line in lines if line.startswith(f"{EXPLANATION}:"))])[:300]


def _differences(run: Run) -> dict[str, str]:
    """The differences between a run and the run that it was compared with, by call and path."""
    found: dict[str, str] = run.result.get("differences", {}).get("found", {})
    return found


def _calls_differ(original: Run, changed: Run) -> dict[str, str]:
    """A difference if the numbers of calls differ. The calls that were kept may be fewer than were made."""
    before, after = original.result["calls"], changed.result["calls"]
    return {"calls": f"{after} calls of compiled code instead of {before}"} if before != after else {}


def _strictness(run: Run) -> str:
    """Describe how equal outputs were compared, and which values were left out."""
    words = [str(run.result["differences"]["strictness"])]
    if not run.result["values"]:
        words = ["they return no tensors and no numbers, and write into no tensor that is seen"]
    if unsteady := _differences(run):
        first = next(iter(unsteady))
        words.append(f"without what differs from run to run, as {first} does")
    if sampled := run.result["sampled"]:
        words.append(f"of {sampled} large tensors a sample of their elements")
    if run.result["calls"] > run.result["kept_calls"]:
        words.append(f"only the first {run.result['kept_calls']} of {run.result['calls']} calls")
    return "; ".join(words)
