"""Run a program again, in children, to measure how much of it runs in graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from repro_runner.explain.render.sentences import ended, failed
from repro_runner.explain.site import Share
from repro_runner.fix_report.children import Children, Run
from repro_runner.fix_report.trial import report_of

if TYPE_CHECKING:
    from repro_runner.explain.program import ProgramToRun
    from repro_runner.explain.report import Report

_SECONDS = 300.0
"""How long one run of the program may take."""
_NO_STEADY_CALL = "each call of a compiled function compiled something; call it more often with the same kind of inputs"


def measure_program(report: Report, program: ProgramToRun, *, times: bool, tell: Callable[[str], None]) -> None:
    """Run the program again, and add to its report the share that ran in graphs; with `times`, the share of time, too.

    `tell` is called with a line about what is being done.
    """
    if failed(report.program):
        report.share = Share(why_unknown="the program failed, so it was not run again")
        return
    with Children() as children:
        tell("counting op calls: the program is run again, with its graphs op by op")
        report.share = measure_share(children, program, report)
        if times and not report.share.why_unknown:
            tell("measuring times: the program is run again")
            report.share = _with_times(report.share, _run(children, program, ops=False), report)


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
    if not measured["timed_calls"]:
        return replace(share, why_no_time=_NO_STEADY_CALL)
    return replace(share, time_share=measured["time_share"], timed_calls=measured["timed_calls"])


def _why_not(run: Run, before: Report) -> str:
    """Why a run tells nothing about the program: it failed, or did something else; empty if it can be used."""
    if run.failure:
        return f"the program, run again, {run.failure}"
    if "why_unknown" in run.result:
        return str(run.result["why_unknown"])
    after = report_of(run)
    if failed(after.program) or after.program.exit_code != before.program.exit_code:
        return f"run again, {ended(after.program).partition(';')[0]}"
    if {(one.where, one.gb_ids) for one in after.sites} != {(one.where, one.gb_ids) for one in before.sites}:
        return "the program, run again, breaks at other lines"
    return ""
