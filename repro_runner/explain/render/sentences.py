"""The sentences of a report. Every format uses these."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from registry.model import HOLDS, HOLDS_FOR_WHAT_RAN, Category
from registry.versions import version_key
from repro_runner.explain.site import (
    EXPORT_STOPPED,
    ONE_GRAPH,
    Observed,
    OwnFix,
    Program,
    Recompile,
    Site,
    Suggestion,
)
from repro_runner.output.places import shown_place
from repro_runner.output.terminal import plain, table
from repro_runner.output.units import counted, seconds

_HAPPENED = {
    "resumed": "the graph ends here, Python runs this line, and another graph goes on",
    "frame skipped": "the whole function is given up: Python runs it, and Dynamo tries again in what it calls",
    "fatal": "compiling stops here with an error",
}
_RAISED = re.compile(r"raised exception (\w+)\((.*)\)", re.DOTALL)
_QUOTED = re.compile(r"""(["'])(.*)\1""", re.DOTALL)
_MOST_PROCESSES = 8
"""How many processes are shown."""
NO_KIND = "the log does not say what became of the graph"
NO_PLACE = "(the log does not say where)"
NO_FUNCTION = "a function that the log does not name"


def where(site: Site, folder: Path) -> str:
    """The place of a site, such as `model.py:12`, or a note that the log does not name it."""
    return shown_place(site.file, site.line, folder) if site.file or not site.log else NO_PLACE


def happened(site: Site) -> str:
    """What became of the graph, and the number of ops before and after the break."""
    words = _HAPPENED.get(site.kind, site.kind) or NO_KIND
    if site.frequency.why_unknown == EXPORT_STOPPED:
        words = "the export stops here with an error"
    if len(site.kinds) > 1:
        words = "; ".join(
            f"in {counted(number, 'compilation')} {_HAPPENED[kind]}" for kind, number in site.kinds.items()
        )
    sides = [
        f"{counted(ops, 'op')} {side}"
        for ops, side in ((site.ops_before, "before"), (site.ops_after, "after"))
        if ops is not None
    ]
    return f"{words}; {', '.join(sides)}" if sides else words


def raises(site: Site) -> str:
    """The exception in the user's code that ended the graph, as Python would show it; empty if it was none."""
    raised = _RAISED.fullmatch(site.context.strip())
    if raised is None:
        return ""
    quoted = _QUOTED.fullmatch(raised[2])
    return f"{raised[1]}: {quoted[2] if quoted else raised[2]}".rstrip(": ")


def untraced(site: Site, folder: Path) -> str:
    """The lines that Dynamo never looked at, and the break that this one follows from; empty if there are none."""
    words = []
    if site.follows:
        file, _, line = site.follows.rpartition(":")
        words.append(f"it follows from {shown_place(file, int(line), folder)}, where the calling function was given up")
    if site.untraced:
        first, last = site.untraced
        lines = f"line {first} was" if first == last else f"lines {first} to {last} were"
        words.append(f"{lines} never traced, and may have breaks of their own")
    return "; ".join(words)


def chain(site: Site) -> str:
    """The id of the cause and the ids that it was reported as; empty if there is only one id."""
    if len(site.gb_ids) < 2:
        return ""
    cause, *others = site.gb_ids
    return f"cause {cause} → surfaced as {' → '.join(others)}"


def counts(site: Site) -> str:
    """How often a site was compiled and ran, and the lost time. For a log, how often the site was reported."""
    if site.log:
        return _reported(site)
    words = f"compiled {site.compiled}×, " + (f"ran {site.ran}×" if site.ran is not None else "ran: not counted")
    if site.ran is None and site.frequency.why_unknown:
        words += f", because {site.frequency.why_unknown}"
    if site.lost_seconds > 0:
        words += f"; {seconds(site.lost_seconds)} of compilation lost"
    return words + _by_process(site)


def _by_process(site: Site) -> str:
    """How often in each rank, and in each process that is no rank."""
    words = (
        f"{count}× on rank {name}" if name.isdecimal() else f"{count}× in {name}" for name, count in site.ranks.items()
    )
    return "; " + ", ".join(words) if site.ranks else ""


def _reported(site: Site) -> str:
    words = f"reported {site.compiled}×, first at {site.log}:{site.log_line}" + _by_process(site)
    if site.candidates:
        words += f"; the words may also stand for {', '.join(site.candidates)}"
    return words if site.gb_ids or site.how == "form" else f"{words}; the registry does not know it"


def old_words(site: Site, torch: str) -> str:
    """What to say to somebody whose torch is old, as its words tell; empty for all others, and for a newer `torch`."""
    if not site.worded_by or (torch and version_key(torch)[:2] > version_key(site.worded_by.partition("–")[2])[:2]):
        return ""
    if site.gone:
        return f"torch {site.gone} and later have no such break: a newer torch may be all that you need"
    return f"these are words of torch {site.worded_by}, a newer torch prints others"


def explanation(site: Site) -> str:
    """torch's explanation of the break. Without one, or without an id, it is torch's whole message."""
    return site.explanation if site.gb_ids and site.how != "form" else site.message


def ran(site: Site) -> str:
    """How often a site ran: a number, or a question mark if it was not counted."""
    return "?" if site.frequency.ran is None else str(site.frequency.ran)


def recompiles(found: Iterable[Recompile]) -> tuple[str, ...]:
    """A text `recompiled 3×: the guard` for each different guard."""
    guards = Counter(" ".join(one.guard.split()) for one in found)
    return tuple(f"recompiled {times}×: {guard or 'torch names no guard'}" for guard, times in guards.items())


def totals(report: Observed) -> str:
    """The line with the totals of a report."""
    numbers = report.totals
    return " · ".join(
        (
            counted(len(report.sites), "break site"),
            counted(numbers.graphs, "graph"),
            counted(numbers.ops, "op"),
            f"{counted(numbers.compilations, 'compilation')} in {seconds(numbers.compile_seconds)}"
            if numbers.compilations
            else counted(0, "compilation"),
            counted(len(report.recompiles), "recompile"),
        )
    )


def environment(known: Mapping[str, str]) -> str:
    """The environment in one line: `torch 2.13.0, Python 3.11, cpu`."""
    named = (("torch ", "torch"), ("Python ", "python"), ("", "device"))
    return ", ".join(f"{word}{known[key]}" for word, key in named if known.get(key))


def failed(program: Program) -> bool:
    """Whether the program raised an error or ended with another exit code than 0."""
    return bool(program.error) or program.exit_code not in (0, None)


def ended(program: Program) -> str:
    """How a failed program ended; empty for a program that did not fail."""
    if not failed(program):
        return ""
    name = program.name or "the program"
    if program.exit_code == 130:
        how = "was interrupted"
    elif program.error:
        how = f"ended with {program.error.strip().splitlines()[0]}"
    else:
        how = f"ended with exit code {program.exit_code}"
    return f"{name} {how}; the report goes up to there"


def no_breaks(report: Observed) -> str:
    """What a report without sites means; empty for a report with sites."""
    if report.sites or report.unlisted:
        return ""
    if report.totals.compilations or report.totals.graphs:
        graphs, frames = counted(report.totals.graphs, "graph"), counted(report.totals.frames, "frame")
        return f"no graph breaks: {graphs} from {frames}, nothing in between"
    if report.program.name:
        return (
            "nothing was compiled: torch.compile was never reached. "
            "`--compile MODULE:FUNC` compiles a function of the program for you"
        )
    return "nothing was compiled: call a function under torch.compile inside the block"


def hidden(report: Observed, *, fullgraph_off: bool) -> str:
    """Advice for a report with a break that is fatal because of fullgraph; empty if there is none."""
    whys = {site.frequency.why_unknown for site in report.sites}
    if fullgraph_off or not report.program.name or ONE_GRAPH not in whys:
        return ""
    return (
        "a fatal break ends its compilation, and hides the breaks after it: "
        "`graphbreak explain --no-fullgraph` runs with fullgraph off and lists them all"
    )


def processes(report: Observed) -> tuple[str, ...]:
    """What each process did, where ranks part, and what could not be watched; empty if there is one process."""
    watched = [one for one in report.processes if one.totals.compilations or not one.note]
    told = [
        f"{one.name}: {counted(one.sites, 'break site')}, {counted(one.totals.graphs, 'graph')}"
        + (f" ({one.note})" if one.note else "")
        for one in watched[:_MOST_PROCESSES]
    ]
    if len(watched) > _MOST_PROCESSES:
        told.append(f"and {len(watched) - _MOST_PROCESSES} more; the JSON has them all")
    return (
        *((f"{counted(len(watched), 'process', 'processes')}: {'; '.join(told)}",) if told else ()),
        *(f"ranks differ: {line}" for line in report.differences),
        *(f"{one.name}: {one.note}" for one in report.processes if one not in watched),
    )


def unlisted(report: Observed) -> str:
    """What torch's own log reports and this report does not have; empty if there is nothing."""
    if not report.unlisted:
        return ""
    places = ", ".join(report.unlisted)
    return (
        f"WRONG: torch reports {counted(sum(report.unlisted.values()), 'break')} that this list does not have, at "
        f"{places}. TORCH_LOGS=graph_breaks shows them; please report this as a bug of graphbreak"
    )


def not_compared(report: Observed) -> str:
    """Said if this report could not be checked against torch's log; empty if it was."""
    if report.compared:
        return ""
    return "the program sets up torch's logs itself, so this list could not be compared with them"


def own_fix(fix: OwnFix) -> tuple[str, str]:
    """What a fix of the user's own code does, and what running it gave."""
    changes = f" What else changes: {fix.changes}." if fix.changes else ""
    outcome = f"{counted(fix.breaks_before, 'break site')} before, {fix.breaks_after} after"
    open_ends = f"; it {fix.verdict}; {fix.reason}" if fix.reason else ""
    return (
        f"{fix.title[:1].upper()}{fix.title[1:]}.{changes}",
        f"run on your code with all fixes: {outcome}, outputs {fix.outputs.partition(' ')[0]}{open_ends}",
    )


def verified(suggestion: Suggestion) -> bool:
    """Whether a model's patch was run and passed all checks."""
    return suggestion.verdict in (HOLDS, HOLDS_FOR_WHAT_RAN)


def suggested(suggestion: Suggestion) -> str:
    """The verdict on a suggestion: `holds, by running it: 7 break sites before, 6 after, results equal`."""
    if not verified(suggestion):
        return f"{suggestion.model}, {suggestion.verdict}: {suggestion.reason}"
    before = counted(suggestion.breaks_before or 0, "break site")
    outcome = f"{before} before, {suggestion.breaks_after} after, results {suggestion.outputs}"
    open_ends = [suggestion.reason] if suggestion.reason else []
    said = f"{suggestion.model}, {suggestion.verdict}, by running it: {outcome}"
    return "; ".join([said, *open_ends, *suggestion.notes])


def share(category: Category, count: int, total: int) -> str:
    """The heading of a category: `6 of 9 breaks are about data-dependent control flow`."""
    verb = "is" if count == 1 else "are"
    if category.key == "uncategorised":
        return f"{count} of {counted(total, 'break')} {verb} not yet categorised"
    first, _, rest = category.title.partition(" ")
    title = f"{first if first.isupper() else first[:1].lower() + first[1:]} {rest}".strip()
    return f"{count} of {counted(total, 'break')} {verb} about {title}"


def short_text(report: Observed) -> str:
    """The report in short: the totals, then one line per site."""
    folder = Path.cwd()
    rows = [
        (
            " → ".join(site.gb_ids),
            site.kind,
            where(site, folder),
            f"compiled {site.compiled}×, ran {ran(site)}×",
        )
        for site in report.sites
    ]
    closing = (no_breaks(report), unlisted(report), ended(report.program))
    return "\n".join([totals(report), *table(rows, indent="  "), *(plain(line) for line in closing if line)])
