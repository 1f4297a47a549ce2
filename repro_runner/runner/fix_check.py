"""Hold a fix against its program: the record of a fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from registry.model import SEEDS
from repro_runner.judge.comparing import Terms, call_differs
from repro_runner.judge.gradients import EAGER_RAISES, NO_GRAD_FN, NO_INPUT
from repro_runner.judge.inputs import KINDS, kind_of
from repro_runner.judge.observation import (
    ERR,
    ERROR,
    EVENTS,
    FILES,
    GRADIENTS,
    MODES,
    OUT,
    RANDOM,
    RECORDS,
    STATE,
    WARNINGS,
    Call,
    Observation,
    Plan,
)
from repro_runner.runner.part import Part, no_fix
from repro_runner.runner.program_runs import NOT_OF_A_PROGRAM, ProgramRuns, Setting

_EFFECTS = frozenset({STATE, OUT, ERR, RECORDS, WARNINGS, FILES, EVENTS, RANDOM, MODES})
"""What EFFECTS excuses."""
_AGAIN = 8
"""How often a fix is called again with equal inputs; it should not be compiled again each time."""


def check_isolated(program: ProgramRuns, name: str, text: str) -> dict[str, Any]:
    """The record of an escape hatch."""
    plans = [Plan(seed=SEEDS[0])]
    found = program.forks.run(text, name, program.plain, lambda part: part.isolated(plans))
    if found.failure:
        return no_fix(found.failure)
    terms = replace(program.terms(program.plain), left_out=NOT_OF_A_PROGRAM | _EFFECTS)
    unlike = call_differs(program.first.calls[0], found.calls[0], program.first, found, terms)
    record = {"breaks": found.more["breaks"], "graphs": found.more["graphs"], "equal": not unlike}
    return {**record, **({"cause": unlike} if unlike else {}), "miscounted": found.more["miscounted"]}


def check_fix(program: ProgramRuns, name: str, text: str) -> dict[str, Any]:
    """The record of a fix."""
    return _FixCheck(program, name, text).record()


class _FixCheck:
    """One fix, run in eager and compiled, as it is and in other settings."""

    def __init__(self, program: ProgramRuns, name: str, text: str) -> None:
        self._program, self._name, self._text = program, name, text
        said = program.said
        self._limits: dict[str, str] = said.get("LIMITS", {}).get(name, {})
        self._limits_met: set[str] = set()
        self._excused = bool(said.get("GRADIENT", {}).get(name))
        self._left_out = _EFFECTS if said.get("EFFECTS", {}).get(name) else frozenset()
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
        unlike = self._unlike(program.plain, compiled) or self._why_no_fix(compiled)
        differs = bool(self._unlike(program.plain, compiled, plain=True))
        record: dict[str, Any] = {
            "compiles": True,
            "breaks": counts["breaks"],
            "equal": not differs,
            "inputs": len(program.seeds),
            "graphs": counts["graphs"],
            "ops": counts["ops"],
        }
        unlike = unlike or self._elsewhere()
        if program.job.thorough and not differs:
            record |= self._gradients(compiled)
        cause = unlike or record.pop("cause", "") or self._stale_limit()
        record |= self._scope()
        holds = not cause and record.get("gradient") != "excused"
        return {**record, "holds": holds, **({"cause": cause} if cause else {}), "miscounted": counts["miscounted"]}

    def _compiled(self, setting: Setting) -> Observation:
        plans = [call.plan for call in self._expected(setting).calls]
        again = _AGAIN if self._program.closely and setting == self._program.plain else 0
        return self._run(setting, lambda part: part.compiled(plans, again=again))

    def _eager(self, setting: Setting) -> Observation:
        plans = [call.plan for call in self._program.expected(setting).calls]
        return self._run(setting, lambda part: part.eager(plans))

    def _run(self, setting: Setting, work: Any) -> Observation:
        return self._program.forks.run(self._text, self._name, setting, work)

    def _expected(self, setting: Setting) -> Observation:
        """What eager gives: the program, or the fix itself if the program raises there."""
        return self._eager(setting) if self._program.eager_raises else self._program.expected(setting)

    def _unlike(self, setting: Setting, found: Observation, *, plain: bool = False, eager: bool = False) -> str:
        """How what was found differs from the program in eager, with the inputs; empty if it does not."""
        expected = self._expected(setting)
        for call in expected.calls:
            other = found.call(call.plan)
            if call.plan.gradients or other is None or (plain and not self._is_plain(call.plan)):
                continue
            terms = self._terms(setting, call.plan, eager=eager)
            if unlike := call_differs(call, other, expected, found, terms):
                if (kind := kind_of(call.plan.variation)) in self._limits:
                    self._limits_met.add(kind)
                else:
                    return f"{self._where(setting, call.plan, eager=eager)}{unlike}"
        return ""

    def _terms(self, setting: Setting, plan: Plan, *, eager: bool) -> Terms:
        terms = self._program.terms(setting)
        left_out = self._left_out
        if not eager:
            left_out |= {EVENTS} | ({RANDOM} if self._program.job.backend != "eager" else frozenset())
        if self._program.eager_raises:
            left_out |= {STATE}
        if plan.variation:
            terms = replace(terms, closeness=replace(terms.closeness, by_size=True, ignored=frozenset({"stride"})))
        return replace(terms, left_out=left_out | self._without_text())

    def _without_text(self) -> frozenset[str]:
        return frozenset({ERROR}) if self._program.eager_raises and False else frozenset()

    def _where(self, setting: Setting, plan: Plan, *, eager: bool) -> str:
        """`with NaN, in double: `."""
        words = []
        if plan.variation:
            words.append(f"with {KINDS[kind_of(plan.variation)]} ({plan.variation})")
        elif plan.seed not in SEEDS:
            words.append(f"with inputs of seed {plan.seed}")
        words += ["in double"] if setting.dtype != self._program.plain.dtype else []
        words += ["with other constants"] if setting.other_constants else []
        words += ["run in eager"] if eager else []
        return f"{', '.join(words)}: " if words else ""

    def _is_plain(self, plan: Plan) -> bool:
        return not plan.variation and not plan.gradients

    def _why_no_fix(self, compiled: Observation) -> str:
        """Why a function that gives what eager gives is no fix all the same; empty if it may be one."""
        found = compiled.more
        if found["breaks"]:
            return "it breaks the graph"
        if not found["ops"]:
            return "no operation is in a graph: nothing is compiled"
        hidden = sorted(set(found["made up"]) - self._program.made_up)
        if hidden and not self._opaque_is_meant:
            return (
                f"torch does not see what {', '.join(hidden)} does: it is made for this; call it isolated..., or argue in "
                "OPAQUE"
            )
        if compiled.replaced:
            return f"it leaves torch changed: {', '.join(sorted(compiled.replaced)[:3])}"
        if found.get("graphs of equal calls", 0) > _AGAIN // 2:
            return f"it is compiled again in every call: {found['graphs of equal calls']} graphs in {_AGAIN} equal calls"
        return ""

    def _elsewhere(self) -> str:
        """How it differs in eager, and in other settings; empty if it does not."""
        program = self._program
        if not program.closely:
            return ""
        for setting in program.settings:
            expected = program.expected(setting)
            if expected.failure or not any(self._is_plain(call.plan) for call in expected.calls):
                continue  # the program itself can't be run so
            eager = self._eager(setting)
            if unlike := eager.failure or self._unlike(setting, eager, eager=True):
                return unlike
            if eager.replaced:
                return f"run in eager, it leaves torch changed: {', '.join(sorted(eager.replaced)[:3])}"
            if setting.dtype != program.plain.dtype:
                compiled = self._compiled(setting)
                self._double = compiled
                if unlike := compiled.failure or self._unlike(setting, compiled):
                    return unlike
        return ""

    def _gradients(self, compiled: Observation) -> dict[str, Any]:
        """The fields of the record about gradients."""
        program = self._program
        runs = [(program.plain, compiled)]
        if program.closely and hasattr(self, "_double"):
            runs.append((program.settings[1], self._double))
        compared = reasons = ""
        for setting, found in runs:
            for call, other in self._flows(setting, found):
                if other.error[0]:
                    return self._gradient_differs(f"with inputs that require grad it raised {': '.join(other.error)}")
                terms = self._terms(setting, call.plan, eager=False)
                if unlike := call_differs(call, other, program.expected(setting), found, terms):
                    if (kind := kind_of(call.plan.variation)) in self._limits:
                        self._limits_met.add(kind)
                        continue
                    return self._gradient_differs(f"{self._where(setting, call.plan, eager=False)}{unlike}")
                if any(leaf is not None for flows in (call, other) for leaf in flows.seen[GRADIENTS].values()):
                    compared = "equal"
                else:
                    reasons = NO_GRAD_FN
        if self._excused and compared and program.job.backend == "eager":  # with another backend it may not be needed
            return {"gradient": "differs", "cause": "GRADIENT says that the gradients differ, but they are those of eager"}
        return {"gradient": compared or reasons or self._why_no_flow()}

    def _gradient_differs(self, unlike: str) -> dict[str, Any]:
        return {"gradient": "excused"} if self._excused else {"gradient": "differs", "cause": unlike}

    def _flows(self, setting: Setting, found: Observation) -> Iterator[tuple[Call, Call]]:
        for call in self._expected(setting).calls:
            other = found.call(call.plan)
            if call.plan.gradients and other is not None and not call.error[0]:
                yield call, other

    def _why_no_flow(self) -> str:
        flows: Sequence[Call] = [call for call in self._program.refused if call.plan.gradients]
        return NO_INPUT if any(call.error[0] == "no input" for call in flows) else EAGER_RAISES

    def _stale_limit(self) -> str:
        stale = sorted(self._limits.keys() - self._limits_met)
        return f"LIMITS says that it does not hold for {stale[0]}, but no difference was found there" if stale else ""

    def _scope(self) -> dict[str, Any]:
        """Which other inputs it was tried on, and what of the program never ran."""
        program = self._program
        if not program.closely or program.eager_raises:
            return {}
        tried = {kind_of(call.plan.variation) for call in program.expected(program.plain).calls} - {""}
        scope: dict[str, Any] = {"tried": [kind for kind in KINDS if kind in tried]}
        kept = {line.strip() for line in self._text.splitlines()}
        if never := [f"{one.line}: {one.text}" for one in program.never_reached if one.text not in kept]:
            scope["never_reached"] = never
        return scope


_ = partial
