"""From a break of a model to a repro of it."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable

from registry.errors import InvalidInput, Problem
from repro_runner.capture import CapturedBreak
from repro_runner.minifier.breaks.calls import record_calls
from repro_runner.minifier.breaks.extraction import extract
from repro_runner.minifier.breaks.program import Program
from repro_runner.minifier.breaks.reduction import reduce_program
from repro_runner.minifier.breaks.repro import render_repro, verify_repro
from repro_runner.minifier.breaks.values import Unextractable
from repro_runner.minifier.failure import Failure, NotMinified
from repro_runner.minifier.program import MinifiedProgram
from repro_runner.minifier.recording import Recording, breaks_of_fullgraph
from repro_runner.minifier.script import Script
from repro_runner.minifier.trials import Outcome, Trials
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.model_under_test.model import describe_error

_MOST_TRIALS = 400


def find_break(subject: ModelUnderTest, recording: Recording, gb_id: str | None) -> CapturedBreak | None:
    """The first break that happened, or the first of this id; InvalidInput if the model breaks, but not so."""
    happened = [each for each in recording.breaks if each.happened]
    if not any(gb_id in (None, each.gb_id) for each in happened):
        happened += [each for each in breaks_of_fullgraph(subject) if each.happened]
    found = next((each for each in happened if gb_id in (None, each.gb_id)), None)
    if found is not None or gb_id is None:
        return found
    there = ", ".join(dict.fromkeys(each.gb_id for each in happened)) or "no breaks"
    raise InvalidInput([Problem(gb_id, f"the model does not break so; there are {there}")])


def minify_break(
    subject: ModelUnderTest, found: CapturedBreak, trials: Callable[[], Trials], *, device: str, seconds: float
) -> MinifiedProgram:
    """Take the innermost function that breaks so by itself, cut it down, and have the runner prove it.

    `trials` is called once there is something to try.
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
        for strict in (True, False):
            trial = functools.partial(_outcome, trials(), found.gb_id, strict)
            if (said := trial(program)).fails:
                smallest = reduce_program(program, lambda edited: trial(edited).fails, most=_MOST_TRIALS)  # noqa: B023
                return _proved(smallest, program, found, device, seconds)
        reasons.append(f"{call.code.co_name} by itself: {said.text.splitlines()[-1]}")
    raise NotMinified(f"{_summary(found)}: no repro could be made of it; {'; '.join(dict.fromkeys(reasons))}")


def _proved(smallest: Program, program: Program, found: CapturedBreak, device: str, seconds: float) -> MinifiedProgram:
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


def _outcome(trials: Trials, gb_id: str, strict: bool, program: Program) -> Outcome:
    end = f'''

if __name__ == "__main__":
    import sys

    from repro_runner.minifier.breaks.trial import report_break

    sys.exit(report_break(sys.modules["__main__"], "{gb_id}", strict={strict}))
'''
    return trials.outcome(Script(text=program.code() + end, saved={}))


def _summary(found: CapturedBreak) -> str:
    last = found.stack[-1] if found.stack else None
    where = f"{last.file}:{last.line}: " if last else ""
    return f"{where}{found.gb_id}, {found.gb_type}"


def _statements(program: Program) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(program.tree))
