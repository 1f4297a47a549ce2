"""One break's page: from what is known to what its template shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

import jinja2

from registry.ids import is_local
from registry.model import (
    COUNTS_SINCE,
    LIMIT_KINDS,
    PROVEN,
    CallSite,
    Category,
    DatedRevision,
    Evidence,
    Example,
    FindingScript,
    GraphBreak,
    Note,
    Registry,
    Repro,
)
from registry.notes import EMPTY_NOTE, END, START, seal
from registry.program_text import ProgramText
from registry.snippets import Program, Programs, Snippet, note_on_where, stand_below
from registry.source_text import is_source_code
from registry.taxonomy import UNCATEGORISED
from registry.versions import version_key
from sitegen.api_links import links_from, script_file
from sitegen.by_release import Variant, choices, variants
from sitegen.captured import evidence_to_show, wording_fields
from sitegen.code import CHANGED, LINE_END, broken_marks, changed_marks, highlight
from sitegen.difference import difference, similar
from sitegen.escape import breakable
from sitegen.facets import STATUSES
from sitegen.learn import lessons_about
from sitegen.links import page_permalink, source_label, source_url
from sitegen.programs import seen_in
from sitegen.reach import neighbour_sentence, reach_badge, reach_sentence
from sitegen.related import Relations
from sitegen.release_table import SIGNS, environment_strip, release_table, upgrade_sentence
from sitegen.report_issue import finding_url, report_url
from sitegen.sentences import comma_list, device_name, first_sentence, release_span
from sitegen.templating import FirstUses

_FATE = {
    "resumed": "The graph ends {where}, and Python runs that part",
    "frame skipped": "Dynamo skips the whole function, and Python runs it",
    "fatal": "This is an error, not only a slower program: Dynamo can't continue",
}


class BreakPages:
    """Renders pages; keeps what all of them look up."""

    def __init__(self, registry: Registry, programs: Programs, environment: jinja2.Environment) -> None:
        self._registry = registry
        self._programs = programs
        self._releases = choices(registry)
        self._newest = self._releases[0]
        self._categories = {category.key: category for category in (*registry.categories, UNCATEGORISED)}
        self._sizes = {key: len(registry.in_category(key)) for key in self._categories}
        self._relations = Relations(registry, programs)
        self._counsels = {gb_id: fits.counsels for gb_id, fits in registry.fits.items()}
        self._page = environment.get_template("graph_break.md.j2")
        self._issue = environment.get_template("issue.md.j2")
        self._finding_issue = environment.get_template("finding_issue.md.j2")

    def render(self, gb: GraphBreak) -> str:
        """The text of docs/gb/GBNNNN.md, with its note."""
        programs = gb.programs_for(self._newest)
        note = gb.note if gb.note is not None else Note(text=EMPTY_NOTE, written_for=gb.gb_type)
        page = self._page.render(
            **self._head(gb),
            programs=[self._cards(gb, one) for one in programs],
            on_where=note_on_where(self._programs[one.repro.name] for one in programs),
            wordings=self._wordings(gb),
            earlier=_earlier(gb),
            places=variants(self._releases, lambda torch: _places(gb, torch)),
            reasons=variants(self._releases, gb.unreached_in),
            releases=self._releases,
            counsels=self._counsels.get(gb.gb_id, ()),
            newest=self._newest,
            related=self._relations.of(gb),
            lessons=lessons_about(self._registry, gb.gb_id, gb.category),
            seen_in=seen_in(gb),
            report_url=report_url(gb, self._programs.get(gb.gb_id), self._issue),
            findings=[(one, self._script(one.script)) for one in gb.findings],
            strip=environment_strip(gb, self._registry.environments),
            upgrade=upgrade_sentence(gb, self._registry.environments),
            table=release_table(gb),
            signs=SIGNS,
            uses=FirstUses(self._registry.glossary, "../"),
            note_is_older=bool(note) and note.written_for != gb.gb_type,
            start_marker=START,
            end_marker=END,
        )
        return seal(page, note)

    def _cards(self, gb: GraphBreak, one: Example) -> dict[str, Any]:
        first = [torch for torch in self._releases if gb.programs_for(torch)[0].repro is one.repro]
        more = {
            "reach": reach_sentence(gb, one),
            "neighbour": neighbour_sentence(gb, one),
            "script": f"../{script_file(one.repro)}",
            "first_in": first,
        }
        return {**samples(gb, one, self._programs), **more}

    def _wordings(self, gb: GraphBreak) -> list[Variant[dict[str, Any]]]:
        """What torch prints, for each release: captured there, or else in the newest release where it was."""
        found = variants(self._releases, lambda torch: _printed(gb, torch))
        return [Variant(_wording(gb, one), one.releases, one.shown, one.alone) for one in found]

    def _script(self, script: FindingScript | None) -> dict[str, Any] | None:
        if script is None:
            return None
        return {
            "code": highlight(script.source.rstrip()),
            "url": finding_url(script, self._finding_issue),
            "holds": where_it_holds(script),
            "shown": next((run for run in reversed(script.runs) if run.is_wrong), None),
        }

    def _head(self, gb: GraphBreak) -> dict[str, Any]:
        category: Category = self._categories[gb.category]
        return {
            "gb": gb,
            "heading": breakable(gb.gb_type),
            "category": category,
            "kind_size": self._sizes[category.key],
            "description": _description(gb),
            "permalink": page_permalink(gb),
            "files": links_from("gb", gb),
            "lead": _lead(gb, category),
            "badges": variants(self._releases, lambda torch: _badges(gb, torch)),
            "span": release_span(gb),
            "reach": variants(self._releases, lambda torch: reach_badge(gb, torch)),
        }


def _description(gb: GraphBreak) -> str:
    text = gb.repro.lead if gb.repro else gb.newest.explanation or gb.gb_type
    return " ".join(text.split())[:200]


def _lead(gb: GraphBreak, category: Category) -> str:
    """What somebody did to get here: of the program, else what torch says, else what this kind is about."""
    if gb.repro:
        return gb.repro.lead
    explanation = gb.newest.explanation
    if explanation.strip() and not is_source_code(explanation):
        return explanation
    return first_sentence(category.why)


def _badges(gb: GraphBreak, torch: str) -> list[tuple[str, str]]:
    """(look, text): its status in a release, and the newest proof if there is none in this one."""
    status = gb.status_in(torch)
    since = gb.history.silent_since(torch)
    text = f"Not emitted since torch {since}" if status == "retired" and since else STATUSES[status]
    dropped = [("retired", "Removed from the registry")] if gb.lifecycle == "dropped" else []
    proof = gb.newest_proof
    proven = [(proof.verdict, f"{STATUSES[proof.verdict]} in torch {proof.environment.torch}")] if proof else []
    return [(status, text), *dropped, *(proven if status not in PROVEN else [])]


def samples(gb: GraphBreak, example: Example, programs: Programs) -> dict[str, Any]:
    """A program of a break and its fixes as cards."""
    repro = example.repro
    program, shown = programs[repro.name], evidence_to_show(example)
    runs = {fix.name: _runs_of(gb, example, fix.name) for fix in program.fixes}
    # A fix with other gradients, or one that the newest release refuses, is never the first answer.
    fixes = sorted(
        program.fixes, key=lambda fix: (fix.name in repro.gradient, _is_refused_now(runs[fix.name], fix.name))
    )
    return {
        "repro": repro,
        "newer": _newer(example),
        "broken": _broken_card(program, repro, shown),
        "fixes": [_fix_card(fix, program, repro, runs[fix.name], number) for number, fix in enumerate(fixes)],
        "isolated": [_isolated_card(one, program) for one in program.isolated],
    }


def _newer(example: Example) -> dict[str, str] | None:
    """What a newer release makes of a program that broke in an older one: no break, or another; None if neither."""
    cpu = [seen for seen in example.fresh_evidence if seen.environment.device == "cpu"]
    ran = [seen for seen in cpu if seen.verdict in (*PROVEN, "stopped", "other id")]
    broke = [seen.environment.torch for seen in ran if seen.shows_it]
    if not broke or ran[-1].shows_it:
        return None
    newest = ran[-1]
    since = list(takewhile(lambda seen: seen.verdict == newest.verdict, reversed(ran)))[-1]
    return {
        "since": since.environment.torch,
        "broke": broke[-1],
        "gb_id": next((one for one in newest.ids if newest.verdict == "other id" and not is_local(one)), ""),
        "verdict": newest.verdict,
    }


def _code(snippet: Snippet, marks: list[str]) -> dict[str, str]:
    """A card's code. What stands before the function can be folded if it is long and nothing in it is marked."""
    lines = highlight(snippet.code, marks).split(LINE_END)
    fold = snippet.set_up if snippet.set_up >= _LONG and not any(marks[: snippet.set_up]) else 0
    if snippet.settings:
        setting = highlight(snippet.settings, [CHANGED] * (snippet.settings.count("\n") + 1))
        if stand_below(snippet.settings):
            lines += ["", setting]
        else:
            lines[fold:fold] = [setting, ""]
    return {
        "head": highlight(f"{snippet.head}\n"),
        "set_up": LINE_END.join(lines[:fold]),
        "code": LINE_END.join(lines[fold:]),
        "tail": highlight(f"\n{snippet.tail}"),
    }


_LONG = 15
"""Lines of set-up that are too many for a phone's screen."""


def _broken_card(program: Program, repro: Repro, shown: Evidence | None) -> dict[str, Any]:
    line = ProgramText(repro.source).line(shown.function, shown.line) if shown and shown.line else None
    marks = broken_marks(program.broken, line)
    return {
        "look": "breaks",
        "title": "Breaks",
        "when": _how_to_compile(program),
        "warnings": (),
        **_code(program.broken, marks),
        "proof": _fate(shown, "at the marked line" if any(marks) else "at the break"),
    }


def _how_to_compile(program: Program) -> str:
    parts = [f"`{line}`" for line in program.config]
    if program.compile_options:
        parts.append(f"`torch.compile(…, {program.compile_options})`")
    return f"With {comma_list(parts)}." if parts else ""


def _fate(shown: Evidence | None, where: str) -> str:
    if shown is None:
        return "We have not seen it break yet."
    graphs = {None: "", 0: "; no graph is compiled", 1: "; one graph is compiled"}.get(
        shown.graphs, f"; {shown.graphs} graphs are compiled"
    )
    return f"{_FATE.get(shown.kind, 'The graph breaks').format(where=where)}{graphs}."


def _fix_card(fix: Snippet, program: Program, repro: Repro, runs: Sequence[Evidence], number: int) -> dict[str, Any]:
    reason = repro.gradient.get(fix.name, "")
    changes = bool(reason) and not (runs and runs[-1].gradients.get(fix.name) == "equal")
    differs = list(filter(None, (reason, repro.effects.get(fix.name), repro.opaque.get(fix.name))))
    title = "Works" if number == 0 else "Also works"
    doubts = ["not everywhere"] * any(not _outcome(seen, fix.name) for seen in runs) + ["changes gradients"] * changes
    return {
        "look": "warns" if changes or _is_refused_now(runs, fix.name) else "works",
        "title": f"{title}, but {', and '.join(doubts)}" if doubts else title,
        "when": fix.when,
        "warnings": [" ".join(differs)] * bool(differs) + list(repro.limits_of(fix.name)),
        **_code(fix, changed_marks(fix, program.broken)),
        "proof": _proof(runs, fix.name),
    }


_EQUAL = "One graph, same result as eager"


def _runs_of(gb: GraphBreak, example: Example, fix: str) -> list[Evidence]:
    """Where a fix was run, oldest release first. A program may run on older releases than its break, too."""
    known = {seen.torch for seen in gb.history.releases if seen.registered or seen.live}
    runs = [seen for seen in example.fresh_evidence if fix in seen.fixes and seen.environment.torch in known]
    return sorted(runs, key=lambda seen: seen.environment.order)


def _is_refused_now(runs: Sequence[Evidence], fix: str) -> bool:
    """Whether it does not hold on the newest release where it was run."""
    return bool(runs) and not _outcome(runs[-1], fix)


def _proof(runs: Sequence[Evidence], fix: str) -> str:
    """Where the fix was run, and what came of it."""
    found: dict[str, dict[str, list[str]]] = {}
    failed: dict[str, dict[str, list[str]]] = {}
    for seen in sorted(runs, key=lambda seen: -seen.verifier):  # what was compared most thoroughly is said first
        outcome = _outcome(seen, fix)
        said = [(found, outcome)] if outcome else [(failed, "Does not work")]
        said += [(failed, _NOT_WITH[backend, when]) for backend, when in seen.fails_with.get(fix, {}).items()]
        for outcomes, one in said:
            places = outcomes.setdefault(one, {})
            places.setdefault(seen.environment.torch, []).append(device_name(seen.environment.device))
    if not found:
        return "We have not verified it yet."
    ran = [f"{outcome}: run on torch {_environments(places)}." for outcome, places in found.items()]
    return " ".join([*ran, *(f"{how} on {_environments(places)}." for how, places in failed.items())])


_NOT_WITH = {
    ("inductor", "always"): "Does not work with Inductor",
    ("inductor", "in training"): "Does not work in training with Inductor",
    ("mock", "always"): "Does not work with the mock accelerator",
    ("mock", "in training"): "Does not work in training with the mock accelerator",
}


def _outcome(seen: Evidence, fix: str) -> str:
    """What a run under eager says of a fix; empty if it does not hold."""
    gradient = seen.gradients.get(fix, "")
    if gradient == "excused":
        return f"{_EQUAL}, but other gradients"
    if not seen.fixes[fix]:
        return ""
    if seen.verifier < COUNTS_SINCE:
        return f"{_EQUAL}; gradients not compared (older check)"
    said = f"{_EQUAL}, gradients included" if gradient == "equal" else f"{_EQUAL}; gradients not compared ({gradient})"
    limits = seen.tried.get(fix, ())
    tried = f"; also tried with {', '.join(LIMIT_KINDS[kind] for kind in limits)}" if limits else ""
    never = "; ".join(f"line {one}" for one in seen.never_reached.get(fix, ()))
    return f"{said}{tried}" + (f"; no input reached {never}" if never else "")


def where_it_holds(script: FindingScript) -> str:
    """In which releases compiled code gives a wrong result, and in which it is right."""
    places: dict[bool, dict[str, list[str]]] = {True: {}, False: {}}
    for run in script.runs:
        places[run.is_wrong].setdefault(run.environment.torch, []).append(device_name(run.environment.device))
    said = {True: "Wrong result on torch {}.", False: "Correct result on torch {}."}
    return " ".join(said[wrong].format(_environments(found)) for wrong, found in places.items() if found)


def _environments(found: Mapping[str, Sequence[str]]) -> str:
    return comma_list(
        torch if devices == ["CPU"] else f"{torch} ({comma_list(sorted(devices))})"
        for torch, devices in sorted(found.items(), key=lambda one: version_key(one[0]))
    )


def _isolated_card(snippet: Snippet, program: Program) -> dict[str, Any]:
    return {
        "look": "contained",
        "title": "If you can't change the code",
        "when": snippet.when,
        "warnings": (),
        **_code(snippet, changed_marks(snippet, program.broken)),
        "proof": "The break stays, but you choose where it happens.",
    }


def _printed(gb: GraphBreak, torch: str) -> tuple[str, int, bool]:
    """(the message, which of the wordings, whether it was captured there): what differs between releases."""
    shown = _captured(gb, torch)
    is_newest = not gb.history.releases or torch == gb.history.releases[-1].torch  # upstream's may be newer still
    at = 0 if is_newest else next((at for at, dated in enumerate(gb.revisions) if torch in dated.releases), 0)
    return shown.message if shown else "", at, shown is not None and shown.environment.torch == torch


def _captured(gb: GraphBreak, torch: str) -> Evidence | None:
    """A message from the program that is shown first for a release; from that release, if it breaks there."""
    programs = gb.programs_for(torch)
    if not programs:
        return None
    here = programs[0].best_run(torch)
    return here if here and here.shows_it and here.message else evidence_to_show(programs[0])


def _wording(gb: GraphBreak, printed: Variant[tuple[str, int, bool]]) -> dict[str, Any]:
    _, at, is_captured_there = printed.value
    shown, dated = _captured(gb, printed.releases[0]), gb.revisions[at]
    places = printed.releases if is_captured_there or shown is None else (shown.environment.torch,)
    return {
        "shown": shown,
        "captured_on": comma_list(places),
        "other_release": not is_captured_there,
        "fields": list(wording_fields(gb, dated, shown)),
    }


def _earlier(gb: GraphBreak) -> list[dict[str, Any]]:
    return [
        {"releases": _releases(old.releases), "rows": list(_changed_rows(old, new))}
        for new, old in zip(gb.revisions, gb.revisions[1:], strict=False)
    ]


def _releases(releases: Sequence[str]) -> str:
    """The summary of an earlier wording: where it was current."""
    if not releases:
        return "Never the newest wording in a release"
    return f"torch {releases[0]}" if len(releases) == 1 else f"torch {releases[0]} to {releases[-1]}"


def _changed_rows(old: DatedRevision, new: DatedRevision) -> Iterator[dict[str, Any]]:
    """Each field of the older wording, marked with what the next one made of it."""
    for title, before, after in zip(_TITLES, _texts(old), _texts(new), strict=True):
        if not before.strip():
            if after.strip():
                yield {"title": title, "state": "(added by the next wording)", "parts": [("new", after)]}
        elif before == after:
            yield {"title": title, "state": "(unchanged in the next wording)", "parts": [("same", before)]}
        elif not after.strip():
            yield {"title": title, "state": "(left out by the next wording)", "parts": [("old", before)]}
        elif similar(before, after):
            yield {"title": title, "state": "(changed by the next wording)", "parts": list(difference(before, after))}
        else:
            yield {
                "title": title,
                "state": "(replaced by the next wording)",
                "parts": [("old", before), ("new", after)],
            }


_TITLES = ("Type", "Context", "Explanation", "Hints")


def _texts(dated: DatedRevision) -> tuple[str, str, str, str]:
    revision = dated.revision
    return revision.gb_type, revision.context, revision.explanation, "\n".join("".join(group) for group in dated.hints)


def _places(gb: GraphBreak, torch: str) -> dict[str, Any] | None:
    """The lines that emit it in a release, or in the last one that does; None if none does."""
    here = gb.history.of(torch)
    last = here.torch if here.live else gb.history.last_live
    if last is None:
        return None
    sites = [_site(site, last) for site in gb.history.of(last).call_sites]
    return {"torch": last, "here": here.live, "sites": sites}


def _site(site: CallSite, torch: str) -> dict[str, str]:
    return {"url": source_url(site, torch), "label": source_label(site), "function": site.function}
