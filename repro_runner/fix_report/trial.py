"""Try a changed program: does it have fewer breaks than the original, and the same results?

Both run in their own processes, in the current folder, with the program's arguments. Files that the program writes are
written again. The changed text runs under the original file's name, so that it finds its data files. No file of the
user is changed. Random numbers are seeded before the program starts, and come in eager's order.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.errors import WriteFailed
from registry.ids import is_local
from registry.message_layout import EXPLANATION
from repro_runner.explain.document import report_from_document
from repro_runner.explain.program import find_main
from repro_runner.explain.render.sentences import unlisted
from repro_runner.explain.report import Report
from repro_runner.explain.site import Site
from repro_runner.fix_report.children import Children, Run
from repro_runner.fix_report.touched import callers_change, leaves_to_python
from repro_runner.judge import EVENTS, FILES, OF_COMPILERS, WORDS_OF_TORCH
from repro_runner.output.units import counted
from repro_runner.process import Output

if TYPE_CHECKING:
    from repro_runner.explain.program import ProgramToRun

EQUAL, DIFFER, NOT_COMPARED = "equal", "differ", "not compared"
REORDERED, LINES_REMOVED = "reordered", "lines removed"
EXACT_BACKENDS = frozenset({"eager", "aot_eager", "eager_noexcept"})
"""Backends that run torch's own kernels, so that results do not depend on where graphs break."""
_PLACE = re.compile(r"(?:call \d+: )?[^:]*")
"""In `call 1: result[0]: 2 instead of 1`."""
AT_THE_END = "at the end of the program"

_NOT_PRINTED = re.compile(
    rf"{WORDS_OF_TORCH}|^.*\r(?=[^\n])|^(.*:)\d+(: \w*Warning: .*\n)  .*\n|(?<=\.py:)\d+|(?<=, line )\d+",
    re.MULTILINE,
)
"""What torch itself writes, what a bar of progress writes over, the line that a warning is about, numbers of lines."""


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
    may_move_work: bool = True
    """Whether the patch can take work out of what is compiled: it changes callers, or leaves something to Python."""
    printed: str = NOT_COMPARED
    """equal, reordered (the same lines), lines removed (and none added), differ or not compared: on standard output and
    standard error, the worse of the two."""
    printed_difference: str = ""
    graphs_after: int = 0
    ops_before: int = 0
    ops_after: int = 0
    """Ops that ran in compiled graphs. The number falls if less code is compiled."""
    calls_compared: bool = True
    """Whether the results of each call were compared, and not only what the program shows and holds in the end."""
    recompiles_before: int = 0
    recompiles_after: int = 0
    seconds: float = 0.0
    """The time that the changed program took."""

    @property
    def holds(self) -> bool:
        """Whether the change is a fix: fewer breaks, the same results."""
        return self.ran and self.outputs == EQUAL and not self.why_no_fix(self.breaks_before, self.ops_before)

    @property
    def recompiling(self) -> str:
        """How the changed program compiles more often; empty if it does not. Torch gives a function up at a limit."""
        if self.recompiles_after <= self.recompiles_before:
            return ""
        times = counted(self.recompiles_after, "time")
        return f"it compiles again {times}, before {self.recompiles_before}; torch gives a function up after a few"

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
        # Breaks and recompiles do not change the number of ops that run in graphs. A rewrite may need fewer.
        if (self.may_move_work and self.ops_after * 2 < ops) or (ops and not self.graphs_after):
            return f"it takes work out of the compiled code: {self.ops_after} ops ran in graphs, before {ops}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Results:
    """How the results of two runs compare."""

    outputs: str
    difference: str = ""
    strictness: str = ""
    calls_compared: bool = True


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
        self._runs: dict[tuple[Any, ...], Run] = {}

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
            return Trial(ran=False, error=error, difference=error, printed_difference=error)
        original = self.original({"seed": seed})
        return self._make_trial(changes, original, self.run(changes, {"seed": seed}), seed)

    def run(self, changes: Mapping[str, str], way: Mapping[str, Any], files: tuple[str, ...] = ()) -> Run:
        """Run the program with these texts, in a way; see `observing.Way`. What runs of `files` is noted."""
        arguments = {"program": asdict(self.program), "changes": dict(changes), "way": way, "files": files}
        return self._children.run("observing:try_program", arguments, seconds=self.timeout)

    def original(self, way: Mapping[str, Any], files: tuple[str, ...] = (), *, again: bool = False) -> Run:
        """The run of the original program; with `again`, a second one. Each is made once."""
        key = (tuple(way.items()), files, again)
        if key not in self._runs:
            self._runs[key] = self.run({}, {**way, "hasty": again}, files)
        return self._runs[key]

    def task(self, name: str, original: Run, changed: Run | None = None, **more: Any) -> Mapping[str, Any]:
        """What a task says of what two runs left."""
        actual = os.fspath(changed.folder) if changed else ""
        arguments = {"expected": os.fspath(original.folder), "actual": actual, **more}
        done = self._children.run(f"tasks:{name}", arguments, seconds=self.timeout)
        if done.failure:
            raise WriteFailed(f"the comparison of two runs {done.failure}")
        return done.result

    def compare(
        self,
        original: Run,
        changed: Run,
        way: Mapping[str, Any],
        files: tuple[str, ...] = (),
        *,
        calls: bool = True,
        left_out: frozenset[str] = frozenset(),
    ) -> Mapping[str, Any]:
        """How a changed program differs from the original. If it does, what differs between two runs of the original
        is left out."""
        backends = {*original.result["backends"], *changed.result["backends"]}
        terms = {
            "exact": backends <= EXACT_BACKENDS,
            "double": bool(way.get("double")),
            "left_out": sorted(left_out if way.get("eager") else left_out | OF_COMPILERS | {FILES, EVENTS}),
            "calls": calls,
        }
        found = self.task("compare_runs", original, changed, again="", **terms)
        if not found["differs"]:
            return found
        again = self.original(way, files, again=True)
        if again.failure or not again.result["ended"]:
            why = again.failure or "does not come to its end"
            return {**found, "unsteady": f"the original program, run again, {why}"}
        found = self.task("compare_runs", original, changed, again=os.fspath(again.folder), **terms)
        if found["own"] and found["all_values"] and not found["values"]:
            return {**found, "unsteady": f"the program differs from itself from run to run: {found['own']}"}
        return found

    def _make_trial(self, changes: Mapping[str, str], original: Run, changed: Run, seed: int) -> Trial:
        before, after = report_of(original), report_of(changed)
        error = why_it_failed(changed, before, after)
        why_not = error or nothing_to_compare_with(original, before, after)
        results = _Results(outputs=NOT_COMPARED, difference=why_not)
        if not why_not:
            results = self._results(changes, original, changed, seed)
        callers = (run.result.get("callers", ()) for run in (original, changed))
        printed, printed_difference = (
            (NOT_COMPARED, why_not) if why_not else self.compare_printed(original, changed, {"seed": seed})
        )
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
            outputs=results.outputs,
            difference=results.difference,
            strictness=results.strictness,
            calls_compared=results.calls_compared,
            may_move_work=not error and (callers_change(changes, *callers) or leaves_to_python(changes)),
            compiled_calls=changed.result.get("calls", 0),
            printed=printed,
            printed_difference=printed_difference,
            graphs_after=changed.result.get("graphs", 0),
            ops_before=original.result.get("ops_run", 0),
            ops_after=changed.result.get("ops_run", 0),
            recompiles_before=len(before.recompiles),
            recompiles_after=len(after.recompiles),
            seconds=changed.seconds,
        )

    def _results(self, changes: Mapping[str, str], original: Run, changed: Run, seed: int) -> _Results:
        """How the results compare. Where the patch changes the code that calls what is compiled, it may return
        something else: then what the program shows and holds in the end has to tell."""
        if not original.result["calls"]:
            return _Results(outputs=NOT_COMPARED, difference="the program calls nothing that is compiled")
        if not changed.result["ended"]:
            return _Results(outputs=NOT_COMPARED, difference="the changed program leaves before its end")
        if hidden := sorted({*changed.result["made_up"]} - {*original.result["made_up"]}):
            return _Results(outputs=DIFFER, difference=f"torch does not see what {', '.join(hidden)} does")
        way = {"seed": seed}
        found, calls = self.compare(original, changed, way), True
        of_calls = bool(found["differs"]) and not found["differs"].startswith(AT_THE_END)
        if of_calls and callers_change(changes, original.result["callers"], changed.result["callers"]):
            without = self.compare(original, changed, way, calls=False)
            if without["values"] or original.stdout.text:
                found, calls = without, False
        if why := found.get("unsteady"):
            return _Results(outputs=NOT_COMPARED, difference=why)
        if found["differs"]:
            return _Results(outputs=DIFFER, difference=found["differs"])
        if found["replaced"]:
            return _Results(outputs=DIFFER, difference=f"it leaves torch changed: {', '.join(found['replaced'][:3])}")
        words = _strictness(original.result, found, calls=calls)
        return _Results(outputs=EQUAL, strictness=words, calls_compared=calls)

    def compare_printed(
        self, original: Run, changed: Run, way: Mapping[str, Any], files: tuple[str, ...] = ()
    ) -> tuple[str, str]:
        """(verdict, first difference) of what two runs print, on the stream that differs more."""
        again = partial(self.original, way, files, again=True)
        found = (_compare_stream(name, original, changed, again) for name in _STREAMS)
        return max(found, key=lambda one: _WORSE.index(one[0]))


_STREAMS = {"stdout": "", "stderr": "standard error, "}
_WORSE = (EQUAL, NOT_COMPARED, REORDERED, LINES_REMOVED, DIFFER)


def _compare_stream(name: str, original: Run, changed: Run, again: Callable[[], Run]) -> tuple[str, str]:
    """Compare what two runs printed on a stream. Of a text that is another one when the original runs again, the lines
    that stay have to be there; where they differ in numbers alone, as times do, without the numbers."""
    verdict, difference = compare_text(_printed(original, name), _printed(changed, name))
    if verdict != EQUAL and compare_text(_printed(original, name), _printed(again(), name))[0] != EQUAL:
        verdict, difference = NOT_COMPARED, "the text differs from run to run"
        for numbers in (False, True):
            before, after, then = (_lines(run, name, numbers=numbers) for run in (original, changed, again()))
            if lost := (before & then) - after:
                verdict = LINES_REMOVED if after.total() + lost.total() <= before.total() else DIFFER
                difference = f"no line {next(iter(lost))!r:.120}"
            elif after.total() != before.total() == then.total():
                verdict, difference = DIFFER, f"{after.total()} lines instead of {before.total()}"
    return verdict, f"{_STREAMS[name]}{difference}"


def _lines(run: Run, stream: str, *, numbers: bool) -> Counter[str]:
    text = _printed(run, stream).text
    return Counter((text if numbers else re.sub(r"\d+", "#", text)).splitlines())


def _printed(run: Run, stream: str) -> Output:
    output: Output = getattr(run, stream)
    return replace(output, start=_NOT_PRINTED.sub(r"\1\2", output.text).encode())


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


def why_it_failed(changed: Run, before: Report, after: Report) -> str:
    """How the changed program failed; empty if it ended well, or in the same way as the original."""
    if changed.failure:
        return f"the changed program {changed.failure}"
    was, ended = before.program, after.program
    if ended.error and ended.error != was.error:
        return f"the changed program fails: {_shorten_error(ended.error)}"
    if ended.exit_code != was.exit_code and not was.error:
        said = f": {changed.stderr.last_line}" if changed.stderr.last_line else ""
        return f"the changed program ends with exit code {ended.exit_code}, not {was.exit_code}{said}"
    return ""


def nothing_to_compare_with(original: Run, before: Report, after: Report) -> str:
    if original.failure:
        return f"the original program {original.failure}"
    if before.program.error and not after.program.error:
        return f"the original program itself fails: {_shorten_error(before.program.error)}"
    return ""


def _shorten_error(error: str) -> str:
    """The first line of an error, and torch's explanation."""
    lines = [line.strip() for line in error.splitlines()]
    return " ".join([*lines[:1], *(line for line in lines if line.startswith(f"{EXPLANATION}:"))])[:300]


def _strictness(original: Mapping[str, Any], found: Mapping[str, Any], *, calls: bool) -> str:
    """Describe how equal outputs were compared, and which values were left out."""
    words = [str(found["strictness"])]
    if not found["values"]:
        words = ["they return no tensors and no numbers, and the program holds none"]
    if not calls:
        words.append("without what compiled functions return, since the patch changes the code that calls them")
    if found["own"]:
        words.append(f"without what differs from run to run, as {_PLACE.match(found['own'])[0]} does")  # type: ignore[index]
    if sampled := original["sampled"]:
        words.append(f"of {sampled} large tensors a sample of their elements")
    if original["calls"] > original["kept_calls"]:
        words.append(f"only the first {original['kept_calls']} of {original['calls']} calls")
    return "; ".join(words)
