"""One rule per function; each yields problems as path:line plus what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from registry.errors import Problem
from registry.ids import id_of_program
from registry.merge import Knowledge
from registry.model import Registry
from registry.taxonomy import UNCATEGORISED


def check_repros_have_an_id(registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """A repro for an id that nobody knows."""
    ids = _ids(registry)
    several = {repro.gb_id for name, repro in known.repros.items() if name != repro.gb_id}
    for name, repro in sorted(known.repros.items()):
        if repro.gb_id not in ids:
            yield Problem(f"registry/repros/{name}.py:1", "no such graph break; rename or delete this file")
        elif repro.gb_id not in known.repros:
            yield Problem(f"registry/repros/{name}.py:1", f"there is no {repro.gb_id}.py; begin with that")
        elif name in several and not repro.title:
            yield Problem(f"registry/repros/{name}.py:1", "one of several programs for an id needs a TITLE")


def check_order_names_programs(_registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """An order of programs with one that is not there, or is of another id."""
    for name, repro in sorted(known.repros.items()):
        for other in repro.order:
            if name != repro.gb_id or other not in known.repros or known.repros[other].gb_id != name:
                said = f"ORDER has {other!r}; it stands in GBNNNN.py and names programs of that id"
                yield Problem(f"registry/repros/{name}.py:1", said)


def check_evidence_has_an_id(registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """Evidence for an id that nobody knows."""
    for gb_id in sorted({*map(id_of_program, known.evidence)} - _ids(registry)):
        yield Problem("registry/evidence:1", f"{gb_id}: no such graph break; delete its records")


def check_taxonomy_ids_exist(registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """The taxonomy names an id that nobody knows."""
    listed = {gb_id for category in known.categories for gb_id in category.ids}
    for gb_id in sorted(listed - _ids(registry)):
        yield Problem("registry/taxonomy.yml:1", f"{gb_id}: no such graph break; remove it")


def check_repros_have_a_fix_or_a_reason(_registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """A repro that shows neither a fix nor why there is none."""
    for gb_id, repro in sorted(known.repros.items()):
        if not repro.fixes and not repro.no_fix:
            yield Problem(f"registry/repros/{gb_id}.py:1", "no function `fixed...`; add one, or say why not in NO_FIX")


def check_neighbours_are_met(_registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """A contrived program that sends its readers to an id without a program, or to another contrived one."""
    for name, repro in sorted(known.repros.items()):
        other = known.repros.get(repro.neighbour)
        if repro.neighbour and (other is None or other.reach == "contrived"):
            said = f"NEIGHBOUR {repro.neighbour} has no program that people write; name another id"
            yield Problem(f"registry/repros/{name}.py:1", said)


def check_exemptions_are_needed(registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """An exemption for an id that nothing emits, or that a program causes in these releases, is stale."""
    breaks = {gb.gb_id: gb for gb in registry}
    for gb_id in sorted(known.unreached):
        gb = breaks.get(gb_id)
        if gb is None or not any(seen.live and gb.unreached_in(seen.torch) for seen in gb.history.releases):
            yield Problem("registry/unreached.yml:1", f"{gb_id} is emitted by no such release; remove it here")
            continue
        caused = [
            seen.environment.torch
            for seen in gb.best_evidence
            if seen.shows_it and gb.unreached_in(seen.environment.torch)
        ]
        if caused:
            said = f"{gb_id} has a program that causes it on torch {', '.join(dict.fromkeys(caused))}"
            yield Problem("registry/unreached.yml:1", f"{said}; remove it here, or say of which `releases` it is true")
        elif gb_id in known.repros and not known.unreached[gb_id].releases:
            yield Problem("registry/unreached.yml:1", f"{gb_id} has a program; say of which `releases` this is true")


def check_reasons_for_gradients_are_needed(_registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """A fix whose gradients are those of eager on every release, though its program says why they are not."""
    for name, repro in sorted(known.repros.items()):
        seen = [one.gradients for one in known.evidence.get(name, ()) if one.repro_sha256 == repro.sha256]
        for fix in repro.gradient:
            said = {gradients.get(fix) for gradients in seen}
            if "equal" in said and "excused" not in said:
                text = f"GRADIENT says why those of {fix} differ, but they are those of eager; remove it"
                yield Problem(f"registry/repros/{name}.py:1", text)


def check_findings_have_an_id(registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """A finding about an id that nobody knows."""
    for gb_id in sorted({one.gb_id for one in known.findings} - _ids(registry)):
        yield Problem("registry/upstream_findings.yml:1", f"{gb_id}: no such graph break; remove it")


def check_aliases_have_an_id(registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """An alias for an id that nobody knows."""
    for gb_id in sorted(known.aliases.keys() - _ids(registry)):
        yield Problem("registry/aliases.yml:1", f"{gb_id}: no such graph break; remove it")


def check_evidence_is_of_this_repro(_registry: Registry, known: Knowledge) -> Iterator[Problem]:
    """Evidence made from another version of its repro proves nothing about this one."""
    for gb_id, evidence in sorted(known.evidence.items()):
        for one in evidence:
            where = f"registry/evidence/torch-{one.environment.torch}-{one.environment.device}.json:1"
            if gb_id not in known.repros:
                yield Problem(where, f"{gb_id} has no repro any more; delete its record")
            elif one.repro_sha256 != known.repros[gb_id].sha256:
                remedy = f"run `graphbreak run {gb_id} --device {one.environment.device}`"
                yield Problem(where, f"{gb_id} was run in another version; {remedy}")


RULES: tuple[Callable[[Registry, Knowledge], Iterator[Problem]], ...] = (
    check_repros_have_an_id,
    check_order_names_programs,
    check_evidence_has_an_id,
    check_taxonomy_ids_exist,
    check_repros_have_a_fix_or_a_reason,
    check_neighbours_are_met,
    check_exemptions_are_needed,
    check_reasons_for_gradients_are_needed,
    check_findings_have_an_id,
    check_aliases_have_an_id,
    check_evidence_is_of_this_repro,
)


def check_all(registry: Registry, known: Knowledge) -> tuple[Problem, ...]:
    """Run every rule."""
    return tuple(problem for rule in RULES for problem in rule(registry, known))


def check_pages_have_an_id(registry: Registry, files: Mapping[str, str]) -> Iterator[Problem]:
    """A page for an id that nobody knows is left as it is."""
    for gb_id in sorted(files.keys() - _ids(registry)):
        yield Problem(f"docs/gb/{files[gb_id]}:1", "no such graph break; rename or delete this page")


def warn_uncategorised(registry: Registry) -> Iterator[Problem]:
    """A new id upstream must not stall the refresh: it is shown as uncategorised until somebody places it."""
    for gb in registry:
        if gb.category == UNCATEGORISED.key:
            yield Problem("registry/taxonomy.yml:1", f"{gb.gb_id} ({gb.gb_type}) has no category; add it to one")


def _ids(registry: Registry) -> set[str]:
    return {gb.gb_id for gb in registry}


def warn_newer(pages: Mapping[str, str]) -> Iterator[Problem]:
    """Upstream's site may have a page before a release has the id."""
    for gb_id, file in pages.items():
        yield Problem(f"docs/gb/{file}:1", f"{gb_id} is not in the newest release; its page is kept as it is")
