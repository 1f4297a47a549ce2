"""Run a program again, in children, to measure how much of it runs in graphs, and what its breaks cost."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from repro_runner.explain.program import find_main
from repro_runner.explain.render.sentences import ended, failed
from repro_runner.explain.site import Cost, Share, Site, WithFixes
from repro_runner.fix_report.children import Children, Run
from repro_runner.fix_report.trial import report_of

if TYPE_CHECKING:
    from repro_runner.explain.program import ProgramToRun
    from repro_runner.explain.report import Report
    from repro_runner.fix_report.fixed_program import Fixing

_SECONDS = 300.0
"""How long one run of the program may take."""
_FAILED = "the program failed, so it was not run again"
_ROUNDS = 3
_MOST_SECONDS = 300.0
"""No round starts after this time."""
_NO_STEADY_CALL = "each call of a compiled function compiled something; call it more often with the same kind of inputs"


def measure_program(
    report: Report,
    program: ProgramToRun,
    children: Children,
    *,
    times: bool,
    fixing: Fixing | None = None,
    tell: Callable[[str], None],
) -> None:
    """Run the program again, and add to its report the share that ran in graphs; with `times`, the share of time, too.

    With `fixing`, what each break costs is added, and the program is measured with and without these fixes. The sites
    are then sorted by their cost. `tell` is called with a line about what is being done.
    """
    if failed(report.program):
        report.share = Share(why_unknown=_FAILED)
        report.sites = tuple(replace(one, cost=Cost(why_unknown=_FAILED)) for one in report.sites)
        return
    tell("counting op calls: the program is run again, with its graphs op by op")
    report.share = measure_share(children, program, report)
    if not times:
        return
    tell("measuring times: the program is run again")
    run = _run(children, program, ops=False)
    report.share = _with_times(report.share, run, report)
    if fixing and report.sites:
        sites = (replace(one, cost=_cost(one, run, report)) for one in report.sites)
        report.sites = tuple(sorted(sites, key=lambda one: -one.cost.total if one.cost else 0.0))
        report.with_fixes = _with_and_without(children, program, fixing, tell)


def measure_share(children: Children, program: ProgramToRun, before: Report) -> Share:
    """Run the program once more, and count its op calls. `before` is the report of its first run."""
    run = _run(children, program, ops=True)
    why = _why_not(run, before)
    return Share(why_unknown=why) if why else Share(**{**run.result["share"], "time_share": None, "timed_calls": 0})


def _run(children: Children, program: ProgramToRun, *, ops: bool, changes: dict[str, str] | None = None) -> Run:
    arguments: dict[str, Any] = {"program": asdict(program), "changes": changes or {}, "ops": ops}
    return children.run("tasks:measure_program", arguments, seconds=_SECONDS)


def _with_times(share: Share, run: Run, before: Report) -> Share:
    if why := _why_not(run, before):
        return replace(share, why_no_time=why)
    measured = run.result["share"]
    if share.why_unknown:
        return share
    if not measured["timed_calls"]:
        return replace(share, why_no_time=_NO_STEADY_CALL)
    return replace(share, time_share=measured["time_share"], timed_calls=measured["timed_calls"])


def _why_not(run: Run, before: Report | None) -> str:
    """Why a run tells nothing about the program: it failed, or breaks elsewhere than `before`; empty if it does."""
    if run.failure:
        return f"the program, run again, {run.failure}"
    if "why_unknown" in run.result:
        return str(run.result["why_unknown"])
    after = report_of(run)
    if failed(after.program):
        return f"run again, {ended(after.program).partition(';')[0]}"
    if before and {(one.where, one.gb_ids) for one in after.sites} != {(one.where, one.gb_ids) for one in before.sites}:
        return "the program, run again, breaks at other lines"
    return ""


def _cost(site: Site, run: Run, before: Report) -> Cost:
    if why := _why_not(run, before):
        return Cost(why_unknown=why)
    for one in run.result["costs"]:
        if (one["where"], one["gb_id"]) == (site.where, site.gb_id):
            return Cost(per_call=one["per_call"], calls=one["calls"])
    return Cost(why_unknown=site.frequency.why_unknown or _NO_STEADY_CALL)


def _with_and_without(
    children: Children, program: ProgramToRun, fixing: Fixing, tell: Callable[[str], None]
) -> WithFixes:
    if fixing.fixed is None:
        return WithFixes(why_unknown=fixing.why_none)
    changes = {find_main(script=program.script, module=program.module).file: fixing.fixed.text}
    tell(f"measuring the program with and without its fixes: {_ROUNDS} runs each")
    began, rounds = time.monotonic(), list[tuple[float, float]]()
    while len(rounds) < _ROUNDS and (not rounds or time.monotonic() - began < _MOST_SECONDS):
        before, after = (_run(children, program, ops=False, changes=texts) for texts in ({}, changes))
        if why := _why_not(before, None) or _why_not(after, None):
            return WithFixes(why_unknown=why)
        times = _times(before, after)
        if not times:
            return WithFixes(why_unknown=_NO_STEADY_CALL)
        rounds.append(times)
    # The round in the middle, so that the times that are shown have the ratio that is shown.
    without, with_them = sorted(rounds, key=lambda one: one[0] / one[1])[len(rounds) // 2]
    return WithFixes(
        breaks_before=fixing.fixed.breaks_before,
        breaks_after=fixing.fixed.breaks_after,
        seconds_before=without,
        seconds_after=with_them,
        faster=without / with_them,
        rounds=len(rounds),
    )


def _times(before: Run, after: Run) -> tuple[float, float] | None:
    """The seconds of as many calls of each function in both runs; None if no function has such calls in both."""
    times: tuple[dict[str, list[float]], dict[str, list[float]]] = (before.result["seconds"], after.result["seconds"])
    calls = {name: min(len(one[name]) for one in times) for name in times[0] if name in times[1]}
    if not calls:
        return None
    first, second = (sum(statistics.median(one[name]) * calls[name] for name in calls) for one in times)
    return first, second
