"""What became of an answer: the verdicts, read from the record of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from registry.model import HOLDS_FOR_WHAT_RAN, PROVEN

SOLVED = "solved"
NOT_WHOLE = "does not compile whole"
OTHER_RESULT = "other result"
DROPS_OUTPUT = "drops output"
DODGES = "dodges"
REFUSED = "refused"
NO_PYTHON = "does not parse"
TIMED_OUT = "timed out"
DOES_NOT_RUN = "does not run"
NOT_CHECKED = "not checked here"
NO_ANSWER = "no answer"

VERDICTS = {
    SOLVED: "one graph; results, effects, output and gradients are those of the program in eager",
    NOT_WHOLE: "torch.compile(fixed, fullgraph=True) fails, or no operation is in a graph",
    OTHER_RESULT: "its result, effect, alias or gradient differs from that of the program",
    DROPS_OUTPUT: "it does not print what the program prints",
    DODGES: "it breaks a rule of the task; it was not run",
    REFUSED: "it goes beyond plain torch code; it was not run (--trust runs it)",
    NO_PYTHON: "the code is not valid Python",
    TIMED_OUT: "it took too long",
    DOES_NOT_RUN: "its process died",
    NOT_CHECKED: "the program itself does not break, or does not run, in this environment",
    NO_ANSWER: "the file has no answer for the task",
}
"""Each verdict, in the order of tables -> what it means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict, with its cause."""

    verdict: str
    cause: str = ""


def judge_record(record: Mapping[str, Any]) -> Judgement:
    """The verdict on an answer that was run: `record` is the runner's."""
    fix = record.get("fixes", {}).get("fixed")
    cause = str(record.get("cause", ""))
    if fix is None and record["verdict"] == "failed":
        return Judgement(verdict=TIMED_OUT if cause.startswith("took longer") else DOES_NOT_RUN, cause=cause)
    if fix is None or record["verdict"] not in PROVEN:
        return Judgement(verdict=NOT_CHECKED, cause=cause or f"the program itself: {record['verdict']}")
    never = "; ".join(fix.get("never_reached", ()))
    in_part = f"{HOLDS_FOR_WHAT_RAN}; never reached: {never}" if fix["holds"] and never else ""
    return Judgement(verdict=_verdict_on(fix), cause=str(fix.get("cause", in_part)))


def _verdict_on(fix: Mapping[str, Any]) -> str:
    if fix["holds"]:
        return SOLVED
    if not fix["compiles"] or fix.get("aspect") == "graphs":
        return NOT_WHOLE
    return {"standard output": DROPS_OUTPUT, "hidden work": DODGES, "torch itself": DODGES}.get(
        str(fix.get("aspect")), OTHER_RESULT
    )
