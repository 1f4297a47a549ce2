"""One run, from what was pulled to what is on disk: merge, render, compare, write. Nothing here prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from registry.checks import check_all, check_pages_have_an_id, warn_newer, warn_uncategorised
from registry.errors import InvalidInput, Problem
from registry.knowledge import read_knowledge
from registry.merge import Knowledge, merge_registry
from registry.model import Note, Registry, Wordings
from registry.pages import PagesOnDisk, check_altered, page_file, read_pages
from registry.snapshot import Snapshot, plan_snapshot, superseded_by
from registry.sources import Pulled
from registry.upstream import dump_registry
from sitegen.generated_folders import sort_out
from sitegen.render import render_site
from sitegen.stamp import LastRun, make_again
from sitegen.write import Change, plan_changes, plan_removals, write_changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run found out, and what it would write."""

    registry: Registry
    texts: Mapping[str, str]
    changes: tuple[Change, ...]
    snapshot: tuple[Change, ...]
    """Those of the changes that keep what was pulled."""
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A checkout and the registry that its pages are to show."""

    root: Path
    snapshot: Snapshot
    pulled: Pulled
    keep: bool
    """Whether what was pulled becomes the snapshot: it follows upstream alone."""
    overwrite: frozenset[str] = frozenset()

    @property
    def docs(self) -> Path:
        return self.root / "docs"

    @property
    def superseded(self) -> Wordings:
        return superseded_by(self.snapshot, self.pulled.wordings)

    def last_run(self) -> LastRun:
        """What the last run left. To be taken before anything is read; see sitegen.stamp."""
        pulled = (self.pulled.raw, self.pulled.origin, dump_registry(self.superseded))
        return LastRun(self.root, self.docs, pulled)

    def nothing_to_do(self, last: LastRun) -> bool:
        """Whether it is proven that a run would write nothing."""
        return not self.overwrite and not self._snapshot_changes() and last.is_current()

    def plan(self, last: LastRun | None = None) -> Plan:
        """Read, merge, render and compare; write nothing. Without the last run, everything is rendered."""
        known = read_knowledge(
            self.root / "registry",
            wordings=self.pulled.wordings,
            origin=self.pulled.origin,
            superseded=self.superseded,
        )
        pages = read_pages(self.docs / "gb", known.all_wordings(), self.overwrite)
        readable = {**pages.pages, **pages.altered}
        registry = merge_registry(known, {gb_id: page.note for gb_id, page in readable.items()})
        unknown = self.overwrite - {gb.gb_id for gb in registry}
        if unknown:
            raise InvalidInput([Problem(f"--overwrite {gb_id}", "no such graph break") for gb_id in sorted(unknown)])
        texts = render_site(registry, self.root / "templates", last.keep if last else make_again)
        problems = (
            *pages.problems,
            *check_altered(pages.altered, self._generated_lines(known, pages, texts)),
            *check_pages_have_an_id(registry, pages.files),
            *check_all(registry, known),
        )
        kept = self._snapshot_changes()
        left = {f"gb/{page_file(gb_id)}" for gb_id in pages.refused}
        written = {name: text for name, text in texts.items() if name not in left}
        misspelt, stale = sort_out(self.docs, texts)
        return Plan(
            registry=registry,
            texts=written,
            changes=(
                *kept,
                *plan_changes(self.docs, written, {**_seen(pages), **misspelt}),
                *plan_removals(self.docs, stale),
            ),
            snapshot=kept,
            problems=tuple(sorted(problems)),
            warnings=(*warn_uncategorised(registry), *warn_newer(pages.newer)),
        )

    def write(self, plan: Plan, last: LastRun) -> Plan:
        """Write what was planned; return what was done of it, with the problems that writing added."""
        overtaken = write_changes(plan.changes, together=plan.snapshot)
        found = tuple(
            Problem(f"{self.shown(change)}:1", "somebody saved this file meanwhile; run again") for change in overtaken
        )
        if not plan.problems and not overtaken:
            last.leave(plan.texts)
        done = tuple(change for change in plan.changes if change not in overtaken)
        return replace(plan, changes=done, problems=plan.problems + found)

    def shown(self, change: Change) -> str:
        """A changed file's path from the root of the checkout."""
        return change.path.relative_to(self.root).as_posix()

    def _snapshot_changes(self) -> tuple[Change, ...]:
        if not self.keep:
            return ()
        files = plan_snapshot(self.snapshot, self.pulled.raw, self.pulled.wordings, self.pulled.origin)
        return plan_changes(self.root / "registry" / "snapshot", files)

    def _generated_lines(self, known: Knowledge, pages: PagesOnDisk, texts: Mapping[str, str]) -> dict[str, set[str]]:
        """The lines of altered pages as generated now, and from the last snapshot, with their note and without."""
        if not pages.altered:
            return {}
        before = replace(known, wordings=self.snapshot.wordings)
        with_notes = {gb_id: page.note for gb_id, page in pages.altered.items()}
        no_notes: dict[str, Note] = {}
        versions = [texts]
        versions += [
            render_site(merge_registry(before, notes), self.root / "templates") for notes in (with_notes, no_notes)
        ]
        return {
            gb_id: {
                line.strip() for version in versions for line in version.get(f"gb/{page_file(gb_id)}", "").splitlines()
            }
            for gb_id in pages.altered
        }


def _seen(pages: PagesOnDisk) -> dict[str, dict[str, bytes | None]]:
    """What was read of each page, under the names it has on disk."""
    return {
        f"gb/{page_file(gb_id)}": {f"gb/{name}": raw for name, raw in {page.file: page.raw, **page.twins}.items()}
        for gb_id, page in pages.pages.items()
    }
