"""Hold a fix against its program: the record of a fix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from registry.model import LIMIT_KINDS, SEEDS
from repro_runner.judge import EFFECTS, ERROR, EVENTS, GRADIENTS, OF_COMPILERS, STATE, TORCH
from repro_runner.judge.comparing import Difference, Terms, call_differs
from repro_runner.judge.gradients import EAGER_RAISES, NO_GRAD_FN, NO_INPUT
from repro_runner.judge.inputs import ROUNDED, kind_of
from repro_runner.judge.observation import Call, Observation, Plan
from repro_runner.judge.reached import Position, Unreached, unreached
from repro_runner.runner.part import no_fix
from repro_runner.runner.program_runs import ProgramRuns, Setting

_AGAIN = 8
"""How often a fix is called again with equal inputs; it should not be compiled again each time."""
_OF_CUDNN = 2e-5
"""So much of the largest number cuDNN's float32 gradients of `nn.GRU` are off; right in double, they are not wrong."""


GRAPHS, HIDDEN = "graphs", "hidden work"
"""Reasons beside the aspects in which two runs differ."""


def check_isolated(program: ProgramRuns, name: str, text: str) -> dict[str, Any]:
    """The record of an escape hatch."""
    plans = [Plan(seed=SEEDS[0])]
    found = program.forks.run(text, name, program.plain, lambda part: part.isolated(plans))
    if found.failure:
        return no_fix(found.failure)
    terms = replace(program.terms(program.plain), left_out=EFFECTS | {STATE})
    unlike = call_differs(program.first.calls[0], found.calls[0], program.first, found, terms)
    record = {"breaks": found.more["breaks"], "graphs": found.more["graphs"], "equal": unlike is None}
    return {**record, **({"cause": unlike.text} if unlike else {}), "miscounted": found.more["miscounted"]}


def check_fix(program: ProgramRuns, name: str, text: str) -> dict[str, Any]:
    """The record of a fix."""
    return _FixCheck(program, name, text).record()


class _FixCheck:
    """One fix, run in eager and compiled, as it is and in other settings."""

    def __init__(self, program: ProgramRuns, name: str, text: str) -> None:
        self._program, self._name, self._text = program, name, text
        said = program.said
        self._limits: dict[str, str] = said.get("LIMITS", {}).get(name, {})
        self._excused = bool(said.get("GRADIENT", {}).get(name))
        self._left_out = EFFECTS if said.get("EFFECTS", {}).get(name) else frozenset()
        self._double: Observation | None = None
        self._positions: set[Position] = set()
        """What ran of it in eager."""
        self._opaque_is_meant = bool(said.get("OPAQUE", {}).get(name))

    def record(self) -> dict[str, Any]:
        """What is known of it."""
        program = self._program
        compiled = self._compiled(program.plain)
        if compiled.failure:
            return no_fix(compiled.failure)
        counts = compiled.more
        raised = next((call for call in compiled.calls if self._is_plain(call.plan) and call.error[0]), None)
        if raised is not None and not program.eager_raises:
            return {**no_fix(": ".join(raised.error), counts["breaks"]), "miscounted": counts["miscounted"]}
        differs = bool(self._unlike(program.plain, compiled, plain=True))
        record: dict[str, Any] = {
            "compiles": True,
            "breaks": counts["breaks"],
            "equal": not differs,
            "inputs": len(program.seeds),
            "graphs": counts["graphs"],
            "ops": counts["ops"],
        }
        refusal = self._why_no_fix(compiled) or self._unlike(program.plain, compiled) or self._elsewhere()
        refusal = refusal or self._compiled_again(compiled)
        if program.job.thorough and not differs:
            gradient, unlike = self._gradients(compiled)
            refusal = refusal or unlike
            record["gradient"] = "differs" if refusal and gradient == "excused" else gradient  # only that is excused
        holds = not refusal and record.get("gradient") != "excused"
        why = {"cause": refusal.text, "aspect": refusal.aspect} if refusal else {}
        return {**record, **self._scope(), "holds": holds, **why, "miscounted": counts["miscounted"]}

    def _compiled(self, setting: Setting) -> Observation:
        plans = self._plans(self._expected(setting))
        again = _AGAIN if self._program.closely and setting == self._program.plain else 0
        return self._run(setting, lambda part: part.compiled(plans, again=again))

    def _eager(self, setting: Setting) -> Observation:
        plans = self._plans(self._program.expected(setting))
        if self._program.eager_raises:
            plans = [Plan(seed=seed) for seed in self._program.seeds]
        traced = self._program.closely and setting == self._program.plain
        found = self._run(setting, lambda part: part.eager(plans, traced=traced))
        if traced and not found.failure:
            self._positions = self._program.reached(self._text, self._name, found, plans)
        return found

    def _plans(self, expected: Observation) -> list[Plan]:
        """The calls to make. On a GPU, an assertion that fails ends all that follows: it is not run where it has to."""
        plans = [call.plan for call in expected.calls]
        known = self._limits if self._program.job.device == "cuda" else {}
        return [plan for plan in plans if kind_of(plan.variation) not in known]

    def _run(self, setting: Setting, work: Any) -> Observation:
        return self._program.forks.run(self._text, self._name, setting, work)

    def _expected(self, setting: Setting) -> Observation:
        """What eager gives: the program, or the fix itself if the program raises there."""
        return self._eager(setting) if self._program.eager_raises else self._program.expected(setting)

    def _unlike(
        self, setting: Setting, found: Observation, *, plain: bool = False, eager: bool = False
    ) -> Difference | None:
        """How what was found differs from the program in eager, with the inputs; None if it does not."""
        expected = self._expected(setting)
        for call in expected.calls:
            other = found.call(call.plan)
            if call.plan.gradients or other is None or (plain and not self._is_plain(call.plan)):
                continue
            terms = self._terms(setting, call.plan, eager=eager)
            if unlike := call_differs(call, other, expected, found, terms):
                if kind_of(call.plan.variation) in self._limits:
                    continue
                return replace(unlike, text=f"{self._where(setting, call.plan, eager=eager)}{unlike.text}")
        return None

    def _terms(self, setting: Setting, plan: Plan, *, eager: bool) -> Terms:
        terms = self._program.terms(setting)
        left_out = self._left_out
        if not eager:
            left_out |= {EVENTS} | (OF_COMPILERS if self._program.job.backend != "eager" else frozenset())
        if self._program.eager_raises:
            left_out |= {STATE}
        close = terms.closeness
        if plan.variation:
            rounded = ROUNDED[setting.dtype, "large" in plan.variation]
            close = replace(close, by_size=rounded, ignored=frozenset({"stride"}))
        if plan.gradients and setting == self._program.plain and self._double and self._program.job.device == "cuda":
            close = replace(close, by_size=max(close.by_size, _OF_CUDNN))
        return replace(terms, closeness=close, left_out=left_out)

    def _where(self, setting: Setting, plan: Plan, *, eager: bool) -> str:
        """`with NaN, in double: `."""
        words = []
        if plan.variation:
            words.append(f"with {LIMIT_KINDS[kind_of(plan.variation)]} ({plan.variation})")
        elif plan.seed not in SEEDS:
            words.append(f"with inputs of seed {plan.seed}")
        words += ["in double"] if setting.dtype != self._program.plain.dtype else []
        words += ["with other constants"] if setting.other_constants else []
        words += ["run in eager"] if eager else []
        return f"{', '.join(words)}: " if words else ""

    def _is_plain(self, plan: Plan) -> bool:
        return not plan.variation and not plan.gradients

    def _why_no_fix(self, compiled: Observation) -> Difference | None:
        """Why a function that gives what eager gives is no fix all the same; None if it may be one."""
        found = compiled.more
        hidden = [] if self._program.makes_operators else sorted(set(found["made up"]) - self._program.made_up)
        if found["breaks"]:
            return Difference(GRAPHS, "it breaks the graph")
        if not found["ops"]:
            return Difference(GRAPHS, "no operation is in a graph: nothing is compiled")
        if hidden and not self._opaque_is_meant:
            why = "which is made for this; call it isolated..., or argue in OPAQUE"
            return Difference(HIDDEN, f"torch does not see what {', '.join(hidden)} does, {why}")
        return self._torch_changed(compiled)

    def _compiled_again(self, compiled: Observation) -> Difference | None:
        again = compiled.more.get("graphs of equal calls", 0)
        said = f"it is compiled again in every call: {again} graphs in {_AGAIN} equal calls"
        return Difference(GRAPHS, said) if again > _AGAIN // 2 else None

    def _torch_changed(self, found: Observation) -> Difference | None:
        changed = self._program.torch_changed(found)
        return Difference(TORCH, f"it leaves torch changed: {', '.join(changed[:3])}") if changed else None

    def _elsewhere(self) -> Difference | None:
        """How it differs in eager, and in other settings; None if it does not."""
        program = self._program
        for setting in program.settings if program.closely else ():
            expected = program.expected(setting)
            if expected.failure or not any(self._is_plain(call.plan) for call in expected.calls):
                continue  # the program itself can't be run so
            found = [(self._eager(setting), True)]
            if setting.dtype != program.plain.dtype:
                self._double = self._compiled(setting)
                found.append((self._double, False))
            for run, eager in found:
                if run.failure:
                    return Difference(ERROR, run.failure)
                if unlike := self._unlike(setting, run, eager=eager) or self._torch_changed(run):
                    return unlike
        return None

    def _gradients(self, compiled: Observation) -> tuple[str, Difference | None]:
        """What is known of the gradients: the field of the record, and how they differ."""
        program = self._program
        runs = [(program.plain, compiled)]
        if self._double is not None:
            runs.append((program.settings[1], self._double))
        compared = none = ""
        for setting, found in runs:
            for call, other in self._flows(setting, found):
                terms = self._terms(setting, call.plan, eager=False)
                unlike = call_differs(call, other, program.expected(setting), found, terms)
                if unlike and kind_of(call.plan.variation) in self._limits:
                    continue
                if unlike and self._excused and unlike.aspect in (GRADIENTS, ERROR):
                    return "excused", None
                if unlike:
                    where = self._where(setting, call.plan, eager=False)
                    said = "with inputs that require grad it " if other.error[0] else ""
                    return "differs", replace(unlike, text=f"{where}{said}{unlike.text}")
                if any(leaf is not None for flows in (call, other) for leaf in flows.seen[GRADIENTS].values()):
                    compared = "equal"
                else:
                    none = NO_GRAD_FN
        return compared or none or self._why_no_flow(), None

    def _flows(self, setting: Setting, found: Observation) -> Iterator[tuple[Call, Call]]:
        for call in self._expected(setting).calls:
            other = found.call(call.plan)
            if call.plan.gradients and other is not None and not call.error[0]:
                yield call, other

    def _why_no_flow(self) -> str:
        flows: Sequence[Call] = [call for call in self._program.refused if call.plan.gradients]
        return NO_INPUT if any(call.error[0] == "no input" for call in flows) else EAGER_RAISES

    def _scope(self) -> dict[str, Any]:
        """Which other inputs it was tried on, and what of the program never ran."""
        program = self._program
        if not program.closely or program.eager_raises:
            return {}
        tried = {kind_of(call.plan.variation) for call in program.expected(program.plain).calls} - {""}
        scope: dict[str, Any] = {"tried": [kind for kind in LIMIT_KINDS if kind in tried]}
        own = unreached(self._text, self._positions, within=self._name) if self._positions else ()
        never = [*_of_one(program.never_reached, self._text), *_of_one(own, program.text)]
        if never:
            scope["never_reached"] = [f"{one.line}: {one.text}" for one in never]
        return scope


def _of_one(parts: Iterable[Unreached], other: str) -> list[Unreached]:
    """Without the parts that are lines of the other text, too."""
    kept = {line.strip() for line in other.splitlines()}
    return [one for one in parts if one.text not in kept]
