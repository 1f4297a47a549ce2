"""Examine a change that looks like a fix: without the compiler, in double, with inputs that nobody gave the program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from registry.model import HOLDS, HOLDS_FOR_WHAT_RAN, LIMIT_KINDS, REFUSED
from repro_runner.fix_report.children import Run
from repro_runner.fix_report.touched import callers_change, never_reached
from repro_runner.fix_report.trial import (
    EQUAL,
    LINES_REMOVED,
    NOT_COMPARED,
    REORDERED,
    TrialRunner,
    nothing_to_compare_with,
    report_of,
    why_it_failed,
)
from repro_runner.judge import ERROR, OUTPUT

OTHER_SEED = 1
"""A change must give the same results on other random inputs, too. One with fixed results does not."""


@dataclass(slots=True)
class Examination:
    """What was found."""

    refused: str = ""
    """Why the change is no fix; empty if nothing speaks against it."""
    compared: list[str] = field(default_factory=list)
    not_compared: list[str] = field(default_factory=list)
    never_reached: list[str] = field(default_factory=list)
    """Parts that the change removes, rewrites or adds, and that no run reached."""

    @property
    def verdict(self) -> str:
        """holds, holds for what ran, or refused."""
        if self.refused:
            return REFUSED
        return HOLDS_FOR_WHAT_RAN if self.not_compared or self.never_reached else HOLDS

    @property
    def reason(self) -> str:
        """Why it is refused, or what never ran or was not compared; empty if it holds."""
        parts = {"never reached": self.never_reached, "not compared": self.not_compared}
        return self.refused or "; ".join(f"{name}: {', '.join(said)}" for name, said in parts.items() if said)


def examine(
    trials: TrialRunner, changes: Mapping[str, tuple[str, str]], *, calls: bool, less_output: bool
) -> Examination:
    """Examine the texts: path -> (text before, text after).

    Without `calls`, what compiled functions return is not compared, since the change has moved them. With
    `less_output`, the program may print and log less.
    """
    return _Examining(trials, changes, calls=calls, less_output=less_output).examine()


class _Examining:
    def __init__(
        self, trials: TrialRunner, changes: Mapping[str, tuple[str, str]], *, calls: bool, less_output: bool
    ) -> None:
        self._trials, self._changes, self._calls, self._less_output = trials, changes, calls, less_output
        self._left_out = OUTPUT if less_output else frozenset()
        self._texts = {path: after for path, (_, after) in changes.items()}
        self._files = tuple(os.path.abspath(path) for path in changes)  # noqa: PTH100 - as Python runs it
        self._found = Examination()

    def examine(self) -> Examination:
        found = self._found
        if not self._calls:
            found.not_compared.append("what compiled functions return: the patch changes the code that calls them")
        pair = self._compare({"eager": True}, "without the compiler")
        if pair is None or found.refused:
            return found
        original, changed = pair
        reached_before, reached_after = (run.result["positions"] for run in pair)
        same = self._calls and original.result["functions"] == changed.result["functions"]
        others = self._trials.task("list_other_inputs", original)["others"] if same else ()
        for double in (True, False):
            way = {"eager": True, "seed": OTHER_SEED, "double": double, "others": tuple(map(tuple, others))}
            pair = self._compare(way, "in double" if double else "on other random inputs")
            if found.refused or pair is not None:
                break
        if pair is not None and not found.refused:
            self._compare_other_inputs(pair, way, same=same)
            for reached, run in zip((reached_before, reached_after), pair, strict=True):
                for file, positions in run.result["positions"].items():
                    reached[file] = [*reached[file], *positions]
        found.not_compared = list(dict.fromkeys(found.not_compared))
        found.never_reached = list(dict.fromkeys(never_reached(self._changes, reached_before, reached_after)))
        return found

    def _compare(self, way: Mapping[str, Any], how: str) -> tuple[Run, Run] | None:
        """Run both in this way and compare them. Returns the runs; None if the original can't be run so."""
        original = self._trials.original(way, self._files)
        before = report_of(original)
        problem = nothing_to_compare_with(original, before, before) or before.program.error
        if problem or not original.result["ended"]:
            self._found.not_compared.append(f"how it runs {how}: {problem or 'the program leaves before its end'}")
            return None
        if left_out := original.result["left_out"]:
            self._found.not_compared.append(f"{left_out} values, too many or not to be read")
        changed = self._trials.run(self._texts, {"others": (), **way}, self._files)
        self._found.refused = self._why_unlike(original, changed, way, how)
        if not self._found.refused:
            self._found.compared.append(how)
        return original, changed

    def _why_unlike(self, original: Run, changed: Run, way: Mapping[str, Any], how: str) -> str:
        if error := why_it_failed(changed, report_of(original), report_of(changed)):
            return f"{how}: {error}"
        if not changed.result["ended"]:
            return f"{how}: the changed program leaves before its end"
        found = self._trials.compare(original, changed, way, self._files, calls=self._calls, left_out=self._left_out)
        if why := found.get("unsteady"):
            self._found.not_compared.append(f"{how}: {why}")
        elif found["differs"]:
            return f"{how}: {found['differs']}"
        elif found["replaced"]:
            return f"it leaves torch changed: {', '.join(found['replaced'][:3])}"
        printed, difference = self._trials.compare_printed(original, changed, way, self._files)
        allowed = {EQUAL, NOT_COMPARED, REORDERED} | ({LINES_REMOVED} if self._less_output else set())
        return "" if printed in allowed else f"{how}, it does not print the same: {difference}"

    def _compare_other_inputs(self, pair: tuple[Run, Run], way: Mapping[str, Any], *, same: bool) -> None:
        if not same or not way["others"]:
            why = "it takes no others" if same else "other functions are compiled"
            self._found.not_compared.append(f"other inputs of the compiled functions: {why}")
            return
        moved = callers_change(self._texts, *(run.result["callers"] for run in pair))
        for left_out in (self._left_out, self._left_out | OUTPUT | {ERROR}) if moved else (self._left_out,):
            unlike = self._trials.task("compare_other_inputs", *pair, double=way["double"], left_out=sorted(left_out))
            if not unlike["differs"]:
                break
        if not unlike["differs"]:
            if left_out != self._left_out:
                why = "the patch changes the code that calls them"
                self._found.not_compared.append(f"what compiled functions raise and print with other inputs: {why}")
            tried = [variation for _, variation, _ in way["others"]]
            words = [said for kind, said in LIMIT_KINDS.items() if any(one.startswith(kind) for one in tried)]
            self._found.compared.append(f"with other inputs: {', '.join(words)}")
            return
        variation, flow = unlike["plan"]["variation"], unlike["plan"]["gradients"]
        said = f"with other inputs ({variation})" if variation else "with its first inputs"
        self._found.refused = f"{said}{f', gradients through {flow}' if flow else ''}: {unlike['differs']}"
