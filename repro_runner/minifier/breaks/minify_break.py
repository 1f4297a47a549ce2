"""From a break of a model to a repro of it."""

from __future__ import annotations

import ast
import itertools
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from registry.errors import InvalidInput, Problem
from registry.repros import parse_repro
from repro_runner.capture import CapturedBreak
from repro_runner.minifier.breaks.calls import record_calls
from repro_runner.minifier.breaks.extraction import extract
from repro_runner.minifier.breaks.program import Program
from repro_runner.minifier.breaks.reduction import reduce_program
from repro_runner.minifier.breaks.still_breaks import INPUTS_MATTER, RETURNS
from repro_runner.minifier.breaks.values import Unextractable
from repro_runner.minifier.recording import Recording, breaks_of_fullgraph
from repro_runner.minifier.result import Failure, MinifiedProgram, NotMinified
from repro_runner.minifier.script import Script
from repro_runner.minifier.script_runners import Outcome, ScriptRunner
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.model_under_test.model import describe_error
from repro_runner.process import Limits
from repro_runner.runner.machine import ReproRun, ThisMachine

_MOST_TRIALS = 400
_NO_FIX = "not written yet: put a function `fixed` in place of this, or say why there can be none"
_COVERAGE = "cut down by graphbreak minify: which lines run depends on the inputs that the model had"


def find_break(subject: ModelUnderTest, recording: Recording, gb_id: str | None) -> CapturedBreak | None:
    """The first break that happened, or the first of this id. InvalidInput if the model has only others."""
    happened = [each for each in recording.breaks if each.happened]
    if not any(gb_id in (None, each.gb_id) for each in happened):
        happened += [each for each in breaks_of_fullgraph(subject) if each.happened]
    found = next((each for each in happened if gb_id in (None, each.gb_id)), None)
    if found is not None or gb_id is None:
        return found
    there = ", ".join(dict.fromkeys(each.gb_id for each in happened)) or "no breaks"
    raise InvalidInput([Problem(gb_id, f"the model does not break so; there are {there}")])


def minify_break(
    subject: ModelUnderTest, found: CapturedBreak, runner: Callable[[], ScriptRunner], *, device: str, seconds: float
) -> MinifiedProgram:
    """Take the innermost function that has this break by itself, cut it down, and let the runner prove it.

    `runner` is called once there is something to run.
    """
    calls = record_calls(subject, found)
    reasons = [] if calls else ["none of the functions on its stack was called without the compiler"]
    for call, as_written in itertools.product(calls, (True, False)):
        try:
            program = extract(call, as_written=as_written)
        except Unextractable as error:
            reasons.append(f"{call.code.co_name} needs {error}")
            continue
        except Exception as error:  # noqa: BLE001 - the user's objects may raise anything when they are looked at
            reasons.append(f"{call.code.co_name} needs what raises {describe_error(error)}")
            continue
        smallest, said = cut_down(program, BreakToKeep(gb_ids=(found.gb_id,)), runner(), most=_MOST_TRIALS)
        if smallest is not None:
            return _prove(smallest, program, found, device, seconds)
        reasons.append(f"{call.code.co_name} by itself: {said}")
    raise NotMinified(f"{_summary(found)}: no repro could be made of it; {'; '.join(dict.fromkeys(reasons))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakToKeep:
    """What a program has to do while it is cut down."""

    gb_ids: Sequence[str]
    """All of these breaks happen."""
    fullgraph: Sequence[bool] = (False, True)
    """With one of these values of torch.compile's fullgraph."""
    settings: Sequence[str] = ()
    """Lines that change Dynamo's settings before it runs."""
    demands: Sequence[str] = (INPUTS_MATTER, RETURNS)
    """The first of these that the whole program meets has to be met."""


def cut_down(
    program: Program, kept: BreakToKeep, runner: ScriptRunner, *, most: int, until: float = math.inf
) -> tuple[Program | None, str]:
    """The smallest program found that breaks so; or None, and what happens instead when the whole program runs."""
    said = ""
    for demand in kept.demands:
        whole = _outcome(runner, kept, demand, program)
        if whole.fails:

            def breaks(edited: Program, demand: str = demand, whole: Outcome = whole) -> bool:
                return _outcome(runner, kept, demand, edited) == whole  # the same ids, and the same error if any

            return reduce_program(program, breaks, most=most, until=until), ""
        said = whole.text.strip().rpartition("\n")[2]
    return None, said


def _prove(smallest: Program, program: Program, found: CapturedBreak, device: str, seconds: float) -> MinifiedProgram:
    last = found.stack[-1] if found.stack else None
    failure = Failure(
        kind="break",
        summary=_summary(found),
        gb_id=found.gb_id,
        source=f"{last.file}:{last.line}" if last else "",
    )
    for candidate, covered in ((smallest, True), (smallest, False), (program, True), (program, False)):
        source = render_repro(candidate, found, covered=covered)
        confirmed, said = verify_repro(source, found.gb_id, device=device, seconds=seconds)
        minified = MinifiedProgram(
            script=source,
            failure=failure,
            confirmed=confirmed,
            output=said,
            original_nodes=_statements(program),
            nodes=_statements(candidate),
            unit="statements",
        )
        if confirmed:
            break
    return minified


def _outcome(runner: ScriptRunner, kept: BreakToKeep, demand: str, program: Program) -> Outcome:
    settings = textwrap.indent("\n".join(kept.settings), "    ")
    how = f'{list(kept.gb_ids)}, demand="{demand}", fullgraph={list(kept.fullgraph)}'
    end = f"""

if __name__ == "__main__":
    import sys

    from repro_runner.minifier.breaks.still_breaks import report_break

{settings}
    sys.exit(report_break(sys.modules["__main__"], {how}))
"""
    return runner.outcome(Script(text=program.code() + end, saved={}))


def _summary(found: CapturedBreak) -> str:
    last = found.stack[-1] if found.stack else None
    where = f"{last.file}:{last.line}: " if last else ""
    return f"{where}{found.gb_id}, {found.gb_type}"


def _statements(program: Program) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(program.tree))


def render_repro(program: Program, found: CapturedBreak, *, covered: bool) -> str:
    """The text of the repro. `covered`: the runner's seeds give different inputs, and these run every line."""
    first = (found.explanation.strip() or found.gb_type).splitlines()[0]
    lead = textwrap.fill(first.replace("\\", "\\\\").replace('"', "'"), 79)
    head, _, rest = program.code().partition("\n\n\n")
    constants = [f'NO_FIX = "{_NO_FIX}"', *([] if covered else [f'COVERAGE = "{_COVERAGE}"'])]
    required = {"module": "numpy"} if "import numpy" in head else {}
    if 'device="cuda"' in rest or "device='cuda'" in rest:
        required["device"] = "cuda"
    if required:
        constants.append(f"REQUIRES = {required}")
    return f'"""{lead}"""\n{head}\n\n' + "\n".join(constants) + f"\n\n\n{rest}"


def verify_repro(source: str, gb_id: str, *, device: str, seconds: float) -> tuple[bool, str]:
    """Run it in a fresh process: whether it is a repro of this id, and what the runner says in words."""
    try:
        parse_repro(source, gb_id)
    except ValueError as error:
        return False, str(error)
    machine = ThisMachine(device, isolate="process", limits=Limits(seconds=seconds))
    (ended,) = machine.run([ReproRun(program=gb_id, source=source, device=device)])
    record = ended.record
    if record["verdict"] == "reproduced":
        return True, f"reproduced: {gb_id}, {record['kind']}, {record['graphs']} graphs"
    ids = ", ".join([*record.get("ids", []), *record.get("ids_fullgraph", [])])
    return False, f"{record['verdict']}: {record.get('cause') or ids or ended.output.strip()[-500:] or 'no break'}"
