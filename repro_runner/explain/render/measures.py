"""The sentences about how much of a program ran in graphs. Every format uses these."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from repro_runner.explain.render.sentences import where
from repro_runner.explain.site import Observed, Share, Site, WithFixes
from repro_runner.output.places import shown_place
from repro_runner.output.units import counted, seconds


def did_it_compile(report: Observed, folder: Path) -> Iterator[str]:
    """Yield what ran in graphs, if that was measured, and what ran as plain Python or without CUDA graphs, and why."""
    if report.share is not None:
        yield from _measured(report.share, folder)
        if report.processes:
            yield "processes that the program starts are not in these figures"
    yield from dict.fromkeys(_given_up(site, folder) for site in report.sites if site.kinds.get("frame skipped"))
    if report.with_fixes is not None:
        yield _with_fixes(report.with_fixes)
    if report.environment.get("device") == "cuda" and report.share and report.share.timed_calls:
        yield "times were measured with a GPU that had done all its work before and after each graph"
    for skip in report.cuda_graph_skips:
        what = f"{skip.function} ({shown_place(skip.file, skip.line, folder)})" if skip.function else "a graph"
        yield f"{what} ran without CUDA graphs: {' '.join(skip.reason.split())}"


def cost(site: Site) -> str:
    """What a break costs while the program runs; empty if nobody asked."""
    one = site.cost
    if one is None:
        return ""
    if one.per_call is None:
        return f"not measured: {one.why_unknown}"
    return f"{seconds(one.per_call)} per call between graphs (median of {counted(one.calls, 'call')})"


def _with_fixes(found: WithFixes) -> str:
    if found.faster is None:
        return f"with and without fixes: not measured: {found.why_unknown}"
    breaks = f"{found.breaks_before} → {found.breaks_after} break sites"
    times = f"{seconds(found.seconds_before)} → {seconds(found.seconds_after)}"
    rounds = counted(found.rounds, "run")
    faster = f"{found.faster:.2f}× as fast ({rounds} each)"
    return f"with the verified fixes ({breaks}) its compiled calls take {times}: {faster}"


def share_of_ops(share: Share) -> str:
    """`64 % of op calls ran inside graphs`, or why that is not known."""
    if share.per_cent is None:
        return f"the share inside graphs was not measured: {share.why_unknown or 'no op was called'}"
    return f"{_per_cent(share.per_cent)} of op calls ran inside graphs"


def _per_cent(value: float) -> str:
    """A per cent. It is 100 only if it is all, and 0 only if it is nothing."""
    return f"{min(max(value, 0.1), 99.9):.1f} %" if 0 < value < 100 else f"{value:.0f} %"


def _measured(share: Share, folder: Path) -> Iterator[str]:
    if share.per_cent is None:
        yield share_of_ops(share)
        return
    others = [
        f"{number} {place}"
        for number, place in (
            (share.ops_between, "in compiled functions outside of graphs"),
            (share.ops_elsewhere, "in code that nothing compiles"),
        )
        if number
    ]
    yield "; ".join([f"{share_of_ops(share)}: {share.ops_inside} of {share.ops}", *others])
    kinds = (
        (share.calls_whole, "without a break"),
        (share.calls_broken, "with breaks"),
        (share.calls_plain, "as plain Python"),
        (share.calls_empty, "without an op"),
    )
    calls = sum(number for number, _ in kinds)
    ran = ", ".join(f"{number} {kind}" for number, kind in kinds if number)
    yield f"{counted(calls, 'call')} of compiled functions: {ran or 'none'}"
    for described, number in share.plain.items():
        name, _, place = described.removesuffix(")").rpartition(" (")
        file, _, line = place.rpartition(":")
        shown = f"{name} ({shown_place(file, int(line), folder)})" if name else described
        yield f"{counted(number, 'call')} of {shown} ran as plain Python"
    if share.time_share is not None:
        timed = f"{counted(share.timed_calls, 'call')} that compiled nothing"
        yield f"{_per_cent(100 * share.time_share)} of the time of compiled functions was inside graphs ({timed})"
    elif share.why_no_time:
        yield f"the share of time was not measured: {share.why_no_time}"


def _given_up(site: Site, folder: Path) -> str:
    function = site.stack[0].function if site.stack else site.function
    if not site.past_limit:
        return f"{function} is given up at {where(site, folder)} ({site.gb_id}), and runs as plain Python"
    guards = dict.fromkeys(" ".join(one.guard.split()) for one in site.recompiles)
    because = f"; it was compiled again because of {list(guards)[-1]}" if guards else ""
    limit = f"reached the recompile limit ({site.gb_id}), so other inputs run as plain Python"
    return f"{function} ({where(site, folder)}) {limit}{because}"
