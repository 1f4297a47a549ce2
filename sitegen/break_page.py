"""One break's page: facts for its front matter, and text for its body."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import jinja2

from registry.ids import is_local
from registry.model import (
    COUNTS_SINCE,
    LIMIT_KINDS,
    PROVEN,
    Category,
    Counsel,
    DatedRevision,
    Environment,
    Evidence,
    Example,
    FindingScript,
    GraphBreak,
    Note,
    Registry,
    Repro,
)
from registry.notes import EMPTY_NOTE, END, START, seal
from registry.snippets import Program, Programs, Snippet, note_on_where
from registry.source_text import is_source_code
from registry.taxonomy import UNCATEGORISED
from registry.versions import version_key
from sitegen.by_release import choices
from sitegen.captured import evidence_to_show, wording_fields
from sitegen.learn import lessons_about
from sitegen.links import page_permalink
from sitegen.markdown import front_matter, one_line, plain, prose
from sitegen.programs import how_often
from sitegen.reach import neighbour_sentence, reach_badge, reach_sentence
from sitegen.related import Relations
from sitegen.release_facts import release_facts, upgrade_sentence
from sitegen.sentences import comma_list, device_name, first_sentence, release_span

_FATE = {
    "resumed": "The graph ends {where}, and Python runs that part",
    "frame skipped": "Dynamo skips the whole function, and Python runs it",
    "fatal": "This is an error, not only a slower program: Dynamo can't continue",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """All that a page is made of, besides its break, its template and the code."""

    category: Category
    releases: tuple[str, ...]
    """Those that a reader can choose, newest first."""
    environments: tuple[Environment, ...]
    related: Mapping[str, str]
    """Id -> what it has to do with this one."""
    lessons: Mapping[str, str]
    """Page -> title."""
    counsels: tuple[Counsel, ...]


class BreakPages:
    """Renders pages; keeps what all of them look up."""

    def __init__(self, registry: Registry, programs: Programs, environment: jinja2.Environment) -> None:
        self._registry, self._programs, self._environment = registry, programs, environment
        self._releases = choices(registry)
        # Without its ids: a page does not name them, and is not another when one joins.
        kinds = (*registry.categories, UNCATEGORISED)
        self._categories = {category.key: replace(category, ids=()) for category in kinds}
        self._relations = Relations(registry, programs)

    def parts(self, gb: GraphBreak) -> Parts:
        """What the page of an id is made of."""
        fits = self._registry.fits.get(gb.gb_id)
        return Parts(
            category=self._categories[gb.category],
            releases=self._releases,
            environments=self._registry.environments,
            related={one.gb.gb_id: one.why for one in self._relations.of(gb)},
            lessons={one.page: one.title for one in lessons_about(self._registry, gb.gb_id, gb.category)},
            counsels=fits.counsels if fits else (),
        )

    def render(self, gb: GraphBreak) -> str:
        """The text of docs/gb/GBNNNN.md, with its note."""
        return render_page(gb, self.parts(gb), self._programs, self._environment)


def render_page(gb: GraphBreak, parts: Parts, programs: Programs, environment: jinja2.Environment) -> str:
    """The text of a page, with its note."""
    newest = parts.releases[0]
    examples = gb.programs_for(newest)
    note = gb.note if gb.note is not None else Note(text=EMPTY_NOTE, written_for=gb.gb_type)
    page = environment.get_template("graph_break.md.j2").render(
        gb=gb,
        front_matter=front_matter(_facts(gb, parts, examples)),
        lead=_lead(gb, parts.category),
        upgrade=upgrade_sentence(gb, parts.environments),
        reasons=list(dict.fromkeys(filter(None, map(gb.unreached_in, parts.releases)))) or _only(gb.unreached),
        newest=newest,
        programs=[_cards(gb, one, programs) for one in examples],
        on_where=note_on_where(programs[one.repro.name] for one in examples),
        counsels=parts.counsels,
        shown=evidence_to_show(examples[0]) if examples else None,
        fields=list(wording_fields(gb.revisions[0])),
        earlier=[(_releases(old.releases), _wording(old)) for old in gb.revisions[1:]],
        category=parts.category,
        findings=[(one, _script(one.script)) for one in gb.findings],
        note_is_older=bool(note) and note.written_for != gb.gb_type,
        start_marker=START,
        end_marker=END,
    )
    return seal(page, note)


def _facts(gb: GraphBreak, parts: Parts, examples: Sequence[Example]) -> dict[str, Any]:
    """The front matter: the layout shows it, and programs read it."""
    names = [one.repro.name for one in examples]
    first = {torch: gb.programs_for(torch)[0].repro.name for torch in parts.releases} if examples else {}
    proof = gb.newest_proof
    return {
        "layout": "graph_break",
        "title": f"{gb.gb_id}: {gb.gb_type}",
        "permalink": page_permalink(gb),
        "render_with_liquid": False,
        "gb": gb.gb_id,
        "status": gb.status,
        "lifecycle": gb.lifecycle,
        "kind": gb.category,
        "reach": reach_badge(gb, parts.releases[0]),
        "emitted": release_span(gb),
        "proof": {"status": proof.verdict, "torch": proof.environment.torch} if proof else None,
        "programs": names,
        "first": {torch: name for torch, name in first.items() if name != names[0]},
        "releases": release_facts(gb),
        "related": parts.related,
        "lessons": parts.lessons,
        "seen_in": {one.name: how_often(one) for one in gb.sightings},
    }


def _cards(gb: GraphBreak, one: Example, programs: Programs) -> dict[str, Any]:
    more = {"reach": reach_sentence(gb, one), "neighbour": neighbour_sentence(gb, one)}
    return {**samples(gb, one, programs), **more}


def _only(reason: Any) -> list[Any]:
    return [reason] if reason else []


def _script(script: FindingScript | None) -> dict[str, Any] | None:
    if script is None:
        return None
    return {
        "title": script.title,
        "code": script.source.rstrip(),
        "holds": where_it_holds(script),
        "shown": next((run for run in reversed(script.runs) if run.is_wrong), None),
    }


def _lead(gb: GraphBreak, category: Category) -> str:
    """What somebody did to get here: of the program, else what torch says, else what this kind is about."""
    explanation = gb.newest.explanation
    if not gb.repro and explanation.strip() and not is_source_code(explanation):
        return plain(one_line(explanation))
    return prose(gb.repro.lead if gb.repro else first_sentence(category.why))


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
        "broken": _broken_card(program, shown),
        "fixes": [_fix_card(fix, repro, runs[fix.name], number) for number, fix in enumerate(fixes)],
        "isolated": [_isolated_card(one) for one in program.isolated],
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


def _marked(snippet: Snippet, line: int | None) -> Snippet:
    """The program with a comment at the end of the line that breaks, where a comment changes nothing."""
    marked = replace(
        snippet, lines=tuple((at, f"{text}{MARK}" if at and at == line else text) for at, text in snippet.lines)
    )
    with contextlib.suppress(SyntaxError):
        if ast.dump(ast.parse(marked.code)) == ast.dump(ast.parse(snippet.code)):
            return marked
    return snippet


MARK = "  # breaks here"
"""docs/_layouts/graph_break.html looks for it."""


def _broken_card(program: Program, shown: Evidence | None) -> dict[str, Any]:
    line = program.line(shown.function, shown.line) if shown and shown.line else None
    marked = _marked(program.broken, line)
    return {
        "title": "Breaks",
        "when": "",
        "warnings": (),
        "code": marked.script.rstrip(),
        "proof": _fate(shown, "at the marked line" if marked is not program.broken else "at the break"),
    }


def _fate(shown: Evidence | None, where: str) -> str:
    if shown is None:
        return "We have not seen it break yet."
    graphs = {None: "", 0: "; no graph is compiled", 1: "; one graph is compiled"}.get(
        shown.graphs, f"; {shown.graphs} graphs are compiled"
    )
    return f"{_FATE.get(shown.kind, 'The graph breaks').format(where=where)}{graphs}."


def _fix_card(fix: Snippet, repro: Repro, runs: Sequence[Evidence], number: int) -> dict[str, Any]:
    reason = repro.gradient.get(fix.name, "")
    changes = bool(reason) and not (runs and runs[-1].gradients.get(fix.name) == "equal")
    differs = list(filter(None, (reason, repro.effects.get(fix.name), repro.opaque.get(fix.name))))
    title = "Works" if number == 0 else "Also works"
    doubts = ["not everywhere"] * any(not _outcome(seen, fix.name) for seen in runs) + ["changes gradients"] * changes
    return {
        "title": f"{title}, but {', and '.join(doubts)}" if doubts else title,
        "when": answer_first(fix.when),
        "warnings": [" ".join(differs)] * bool(differs) + list(repro.limits_of(fix.name)),
        "code": fix.script.rstrip(),
        "proof": _proof(runs, fix.name, repro.limits.get(fix.name, {})),
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


def _proof(runs: Sequence[Evidence], fix: str, limits: Collection[str]) -> str:
    """Where the fix was run, and what came of it."""
    found: dict[str, dict[str, list[str]]] = {}
    failed: dict[str, dict[str, list[str]]] = {}
    for seen in sorted(runs, key=lambda seen: -seen.verifier):  # what was compared most thoroughly is said first
        outcome = _outcome(seen, fix, limits)
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


def _outcome(seen: Evidence, fix: str, limits: Collection[str] = ()) -> str:
    """What a run under eager says of a fix; empty if it does not hold. Its `limits` are told beside it."""
    gradient = seen.gradients.get(fix, "")
    if gradient == "excused":
        return f"{_EQUAL}, but other gradients"
    if not seen.fixes[fix]:
        return ""
    if seen.verifier < COUNTS_SINCE:
        return f"{_EQUAL}; gradients not compared (older check)"
    said = f"{_EQUAL}, gradients included" if gradient == "equal" else f"{_EQUAL}; gradients not compared ({gradient})"
    held = [LIMIT_KINDS[kind] for kind in seen.tried.get(fix, ()) if kind not in limits]
    tried = f"; also tried with {', '.join(held)}" if held else ""
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


def _isolated_card(snippet: Snippet) -> dict[str, Any]:
    return {
        "title": "If you can't change the code",
        "when": answer_first(snippet.when),
        "warnings": (),
        "code": snippet.script.rstrip(),
        "proof": "The break stays, but you choose where it happens.",
    }


def answer_first(when: str) -> str:
    """What to do, and then when: in a program it is written the other way round."""
    first = first_sentence(when)
    rest = " ".join(when.split())[len(first) :].strip()
    return f"{rest} {first}" if rest and first.startswith(("Use this ", "Choose this ")) else when


def _releases(releases: Sequence[str]) -> str:
    """The heading of an earlier wording: where it was current."""
    if not releases:
        return "Never the newest wording in a release"
    return f"torch {releases[0]}" if len(releases) == 1 else f"torch {releases[0]} to {releases[-1]}"


def _wording(dated: DatedRevision) -> str:
    """One wording, every character of it; what is empty is left out."""
    revision = dated.revision
    parts = [("Type", revision.gb_type), ("Context", revision.context), ("Explanation", revision.explanation)]
    parts += [("Hint", "".join(fragments)) for fragments in dated.hints]
    return "\n".join(f"{label}: {text}" for label, text in parts if text.strip())
