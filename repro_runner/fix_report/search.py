"""Find the patches that work together, by running the program: first with all, and with halves if that fails."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from repro_runner.explain.site import Site
from repro_runner.fix_report.patches.patch import Patch, Refusal, Target, apply_patches, line_after
from repro_runner.fix_report.patches.source import Edited, Source
from repro_runner.fix_report.trial import DIFFER, EQUAL, LINES_REMOVED, NOT_COMPARED, REORDERED, Trial

_MOST_RUNS = 16


class Tries(Protocol):
    """Runs a changed program and compares it with the original."""

    def try_source(self, text: str) -> Trial: ...


@dataclass(slots=True)
class Search:
    """The patches that are kept, the result of running them, and why the others are not kept."""

    source: Source
    file: Path
    trials: Tries
    seconds: float = 600.0
    """No run starts after this time."""
    kept: list[Patch] = field(default_factory=list)
    best: Trial | None = None
    """The trial of the patches that are kept."""
    reasons: dict[Target, str] = field(default_factory=dict)
    runs: int = 0
    _began: float = field(default_factory=time.monotonic)

    @property
    def _is_over(self) -> bool:
        return self.runs >= _MOST_RUNS or time.monotonic() - self._began > self.seconds

    def add(self, proposed: Iterable[Patch | Refusal]) -> None:
        """Try patches, and keep those that reduce the number of breaks and do not change results."""
        group: list[Patch] = []
        for one in proposed:
            if isinstance(one, Patch):
                group.append(one)
            else:
                self.reasons[one.target] = one.reason
        if not group:
            return
        why_not = self._attempt(group)
        if not why_not:
            self._drop_idle()
        elif len(group) > 1:
            half = len(group) // 2
            self.add(group[:half])
            self.add(group[half:])
        elif group[0].otherwise is not None:
            self.add([group[0].otherwise])
        else:
            self.reasons |= dict.fromkeys(group[0].targets, f"tried: {group[0].title}; {why_not}")

    def _attempt(self, group: list[Patch]) -> str:
        """Try a group of patches together. Returns why it is not kept; empty if it is."""
        if self._is_over:
            return f"not run, since trying had to end somewhere: after {self.runs} runs"
        try:
            edited = apply_patches(self.source, [*self.kept, *group])
        except ValueError as error:
            return str(error)
        self.runs += 1
        trial = self.trials.try_source(edited.text)
        breaks, ops = (
            (self.best.breaks_after, self.best.ops_after) if self.best else (trial.breaks_before, trial.ops_before)
        )
        why_not = why_not_kept(trial, [*self.kept, *group]) or trial.why_no_fix(breaks, ops)
        if not why_not:
            self.kept += group
            self.best = trial
        return why_not

    def _drop_idle(self) -> None:
        """Remove patches that fixed none of their breaks, if a run shows that there are no more breaks without them."""
        idle = [patch for patch in self.kept if len(self.remaining(patch.targets)) == len(patch.targets)]
        if not idle or self.best is None:
            return
        before, best = list(self.kept), self.best
        self.kept = [patch for patch in self.kept if patch not in idle]
        if self.kept and not self._is_over:
            self.runs += 1
            trial = self.trials.try_source(self.edited.text)
            if not why_not_kept(trial, self.kept) and trial.breaks_after <= best.breaks_after:
                self.best = trial
                for patch in idle:
                    self.reasons |= dict.fromkeys(patch.targets, f"tried: {patch.title}; it still breaks")
                return
        self.kept = before

    @property
    def edited(self) -> Edited:
        return apply_patches(self.source, self.kept)

    def remaining(self, targets: Iterable[Target]) -> list[Target]:
        """The targets that still break with the patches that are kept; all of them if none is kept."""
        if self.best is None:
            return list(targets)
        lines = {site.line for site in self._sites_in_file(self.best.sites_after)}
        places = {site.where for site in self.best.sites_after}
        return [
            each for each in targets if (line in lines if (line := self._line(each)) else each.site.where in places)
        ]

    def new_sites(self, targets: Iterable[Target]) -> list[Site]:
        """The sites where the changed program breaks and the original did not."""
        if self.best is None:
            return []
        known = list(targets)
        lines = {self._line(each) for each in known}
        places = {each.site.where for each in known}
        own = {id(site) for site in self._sites_in_file(self.best.sites_after)}
        return [
            site
            for site in self.best.sites_after
            if (site.line not in lines if id(site) in own else site.where not in places)
        ]

    def _line(self, target: Target) -> int:
        return line_after(self.source, self.kept, target)

    def _sites_in_file(self, sites: Iterable[Site]) -> list[Site]:
        own = os.path.realpath(self.file)
        return [site for site in sites if os.path.realpath(site.file) == own]


def why_not_kept(trial: Trial, patches: list[Patch]) -> str:
    """Why the changed program can't be accepted; empty if it can."""
    if not trial.ran:
        return trial.error
    if trial.outputs != EQUAL:
        differ = "the outputs differ" if trial.outputs == DIFFER else "the outputs could not be compared"
        return f"{differ}: {trial.difference}"
    allowed = {EQUAL, NOT_COMPARED}
    allowed |= {REORDERED} if any(patch.reorders for patch in patches) else set()
    allowed |= {LINES_REMOVED} if any(patch.silences for patch in patches) else set()
    if trial.printed not in allowed:
        return f"it does not print the same: {trial.printed_difference}"
    return ""
