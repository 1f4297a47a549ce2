"""What a program does in eager: on its own inputs, and on others that it takes. A fix is held against this."""

from __future__ import annotations

import ast
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch

from registry.model import FRESH_SEEDS, SEEDS
from registry.repros import makes_operators
from registry.snippets import CONSTANTS
from repro_runner.judge import INPUTS, RESULT, STATE
from repro_runner.judge.comparing import Terms, flats_differ, unsteady_paths
from repro_runner.judge.inputs import plain_variations, searches
from repro_runner.judge.leaves import Closeness
from repro_runner.judge.observation import Observation, Plan, dump, load
from repro_runner.judge.reached import Position, unreached
from repro_runner.judge.surroundings import Integrity
from repro_runner.process import in_fork
from repro_runner.runner.machine import ReproRun
from repro_runner.runner.part import Part, failed, run_here

_FLOWS = ("leaves", "non-leaves")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a program is loaded."""

    dtype: torch.dtype = torch.float32
    load_seed: int = 0
    other_constants: int = 0
    """Of which kind the numbers of its module are changed; 0 if they are not."""


class Forks:
    """Runs one function of a repro in a fork of this process, which loads none of them."""

    def __init__(self, job: ReproRun, folder: Path) -> None:
        self.job = job
        self._folder = folder
        self._integrity = Integrity()
        self._number = 0

    def run(
        self, text: str, name: str, setting: Setting, work: Callable[[Part], Observation], *, may_die: bool = False
    ) -> Observation:
        """What `work` returns of one function that was loaded in a fork."""
        job = replace(self.job, load_seed=setting.load_seed)
        text = with_other_constants(text, setting.other_constants) if setting.other_constants else text

        for _ in range(2 if may_die else 1):  # threads of torch abort now and then: what dies has to die again
            self._number += 1
            own = self._folder / f"run{self._number}"  # what one writes is not there for the next
            own.mkdir()
            sent = in_fork(partial(self._run_in, own, job, text, name, setting, work), may_die=may_die)
            if sent:
                return load(sent)
        return Observation(failure="its process died")

    def _run_in(
        self, own: Path, job: ReproRun, text: str, name: str, setting: Setting, work: Callable[[Part], Observation]
    ) -> bytes:
        os.chdir(own)
        torch.set_default_dtype(setting.dtype)
        return dump(run_here(job, text, name, own, self._integrity, work))


class ProgramRuns:
    """The program `broken` in eager and compiled. What is the matter with it is in `failure`."""

    def __init__(self, job: ReproRun, forks: Forks, text: str) -> None:
        self.job, self.forks, self.text = job, forks, text
        fresh = random.SystemRandom().sample(range(1000, 2**31), FRESH_SEEDS)
        self.seeds = (*SEEDS, *(fresh if job.thorough else ()))
        self.closely = job.thorough and job.backend == "eager"
        """Whether other inputs are tried, too. What runs a graph does not decide whether a fix means the same."""
        self.failure: dict[str, Any] = {}
        self._prepare()

    def _prepare(self) -> None:
        plans = [Plan(seed=seed) for seed in self.seeds]
        self.first = self._run(lambda part: part.eager(plans, traced=True))
        if self._fails(self.first):
            return
        self.said: Mapping[str, Any] = self.first.more["constants"]
        self.eager_raises = bool(self.said.get("EAGER_RAISES"))
        if problem := self._why_unfit():
            self.failure = failed(problem)
            return
        self.compiled = self._run(Part.broken_compiled)
        if self._fails(self.compiled):
            return
        (call, *_), expected = self.compiled.calls, self.first.calls[0]
        self.record: Mapping[str, Any] = self.compiled.more["record"]
        self.seen: list[str] = self.compiled.more["seen"]
        self.made_up = frozenset(self.compiled.more["made up"])
        self.miscounted: list[str] = self.compiled.more["miscounted"]
        self.raised = ": ".join(call.error) if call.error[0] and not expected.error[0] else ""

    def _run(
        self, work: Callable[[Part], Observation], setting: Setting | None = None, *, may_die: bool = False
    ) -> Observation:
        return self.forks.run(self.text, "broken", setting or Setting(), work, may_die=may_die)

    def _fails(self, found: Observation) -> bool:
        if found.failure:
            verdict = "not applicable" if found.more.get("not applicable") else "failed"
            self.failure = {"verdict": verdict, "cause": found.failure}
        return bool(self.failure)

    @property
    def plain(self) -> Setting:
        """As it is."""
        return Setting()

    @cached_property
    def settings(self) -> tuple[Setting, ...]:
        """How a fix is loaded to be compared: as it is, in double with other weights, and with other constants."""
        if not self.closely or self.eager_raises:
            return (self.plain,)
        drawn = random.SystemRandom().randrange(1, 2**31)
        double = Setting(dtype=torch.float64, load_seed=drawn)
        kinds = random.SystemRandom().sample(range(1, 10), 2) if self.job.answer else (1, 2)  # an answer knows none
        others = [Setting(load_seed=drawn, other_constants=kind) for kind in kinds]
        varied = [one for one in others if with_other_constants(self.text, one.other_constants) != self.text]
        return (self.plain, double, *varied)

    def terms(self, setting: Setting) -> Terms:
        """How closely things are compared."""
        fused = self.job.backend != "eager"
        return Terms(closeness=Closeness(fused=fused, float_dtype=setting.dtype), unsteady=self._unsteady)

    @cached_property
    def _unsteady(self) -> frozenset[tuple[str, str]]:
        return unsteady_paths(self.first, self.expected(self.plain), Terms())

    def expected(self, setting: Setting) -> Observation:
        """What the program does in eager, on all inputs that it takes. Fixes get the same, in this order."""
        if setting not in self._expected:
            self._expected[setting] = self._settle(setting)
        return self._expected[setting]

    @cached_property
    def _expected(self) -> dict[Setting, Observation]:
        return {}

    def _settle(self, setting: Setting) -> Observation:
        """Call it with everything, and again without what it does not take: an error may leave things half done."""
        plans = list(self._plans(setting))
        traced = setting == self.plain
        tried = self._run(lambda part: part.eager(plans, traced=traced, limited=True), setting, may_die=True)
        if tried.failure:  # an error on a GPU may end all that follows: then only its own inputs are compared
            plans = [plan for plan in plans if not plan.variation]
            tried = self._run(lambda part: part.eager(plans, traced=setting == self.plain), setting)
            if tried.failure:
                return tried
        taken = [call.plan for call in tried.calls if not call.failed]
        if setting == self.plain:
            self.positions = self.reached(self.text, "broken", tried, taken)
            self.refused = [call for call in tried.calls if call.failed]
        return self._run(lambda part: part.eager(taken), setting) if len(taken) < len(plans) else tried

    def reached(self, text: str, name: str, traced: Observation, plans: Sequence[Plan]) -> set[Position]:
        """What ran of a function."""
        runs = [traced]
        if traced.more["compiles"]:
            runs.append(self.forks.run(text, name, self.plain, lambda part: part.uncompiled(plans), may_die=True))
        return {tuple(each) for run in runs for each in run.more.get("positions", ())}

    def _plans(self, setting: Setting) -> Sequence[Plan]:
        plain = [Plan(seed=seed) for seed in self.seeds]
        if not self.job.thorough or self.eager_raises:
            return plain
        flows = [Plan(seed=seed, gradients=kind) for kind in _FLOWS for seed in self.seeds]
        if not self.closely:
            return [*plain, *flows]
        seed = self.seeds[-1]
        kinds = [*plain_variations(), *self.first.more["variations"]]
        if self.job.answer:
            larger = random.SystemRandom().randrange(2, 10)
            sizes = {one.split()[1] for one in kinds if re.match(r"size \d", one)}
            kinds += [f"size {size} to {int(size) + larger}" for size in sorted(sizes)]
        others = [Plan(seed=seed, variation=one) for one in kinds for seed in self.seeds[1:]]
        if setting == self.plain:
            others += [Plan(seed=seed, variation="dtype float64")]
            others += [Plan(seed=seed, variation=one) for one in searches()]
        elif self.plain in self._expected:
            others += [call.plan for call in self.expected(self.plain).calls if "other side" in call.plan.variation]
        large = [Plan(seed=seed, variation=one, gradients=kind) for one in ("zero", "large") for kind in _FLOWS]
        return [*plain, *others, *flows, *large]

    def torch_changed(self, found: Observation) -> list[str]:
        """What of torch is not what it was after a run, beside what the program itself changes."""
        own = {**self.first.replaced, **self.compiled.replaced}
        return sorted(name for name, now in found.replaced.items() if own.get(name) != now)

    @cached_property
    def makes_operators(self) -> bool:
        """Whether the program itself has code that torch does not see into: then a fix may have it, too."""
        return makes_operators(ast.parse(self.text))

    @property
    def never_reached(self) -> tuple[Any, ...]:
        """The parts of `broken` that no input reached."""
        return unreached(self.text, self.positions, within="broken") if self.closely else ()

    def _why_unfit(self) -> str:
        """Why the repro can't prove anything; empty if it can."""
        calls = self.first.calls
        errors = [": ".join(call.error) for call in calls if call.error[0]]
        if errors and not self.eager_raises:
            return f"eager raised {errors[0]}"
        if not errors and self.eager_raises:
            return "EAGER_RAISES is set, but eager did not raise"
        if self.said.get("COVERAGE"):
            return ""
        of_seeds = calls[: len(SEEDS)]
        if not any(flats_differ("", of_seeds[0].given, call.given, Terms()) for call in of_seeds[1:]):
            return "inputs() gives the same inputs under every seed; draw them, or say why not in COVERAGE"
        missed = self.first.more["missed"] if not errors else []
        if missed:
            return (
                f"lines {missed} of broken were not run by the inputs of seeds {SEEDS}; say why in COVERAGE, or fix it"
            )
        if not errors and self._says_nothing():
            return "the result is the same under every seed; let it depend on the inputs, or say why not in COVERAGE"
        return ""

    def _says_nothing(self) -> bool:
        """Whether the program gives the same for all inputs, and leaves them as they are."""
        first, *others = self.first.calls
        if any(isinstance(leaf, tuple) and leaf[0] == "same" for leaf in first.seen[RESULT].values()):
            return False  # it gives one of its inputs back
        if any(flats_differ("", first.seen[RESULT], call.seen[RESULT], Terms()) for call in others):
            return False
        return not any(
            flats_differ("", self.first.before, call.seen[STATE], Terms())
            or flats_differ("", call.given, call.seen[INPUTS], Terms())
            for call in self.first.calls
        )


def with_other_constants(source: str, kind: int) -> str:
    """The source with every number that a statement of the module gives a name to changed: 1 up, 2 also by a half.

    A fix that has the given numbers in its code fails with others.
    """
    module = ast.parse(source)
    edits = []
    for node in module.body:
        if not isinstance(node, ast.Assign) or any(getattr(one, "id", "") in CONSTANTS for one in node.targets):
            continue
        number = node.value.value if isinstance(node.value, ast.Constant) else None
        if isinstance(number, int | float) and not isinstance(number, bool):
            other = number + kind if isinstance(number, int) else number * (1 + kind / 4) + 0.125
            edits.append((node.value, repr(other)))
    lines = source.splitlines(keepends=True)
    for value, text in reversed(edits):
        line = lines[value.lineno - 1].encode()
        lines[value.lineno - 1] = (line[: value.col_offset] + text.encode() + line[value.end_col_offset :]).decode()
    return "".join(lines)
