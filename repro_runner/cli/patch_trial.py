"""`graphbreak explain --try PATCH SCRIPT`: read the patch, try it, and show the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from registry.documents import document_text, head
from registry.errors import InvalidInput, Problem
from registry.model import HOLDS, HOLDS_FOR_WHAT_RAN, REFUSED
from repro_runner.exit_codes import DONE, HOLDS_IN_PART, NOT_AS_IT_SHOULD_BE
from repro_runner.explain.program import ProgramToRun, find_main
from repro_runner.explain.render.sentences import where
from repro_runner.fix_report.judging import JudgedPatch, judge_patch
from repro_runner.fix_report.patches.source import read_source
from repro_runner.fix_report.trial import TrialRunner
from repro_runner.fix_report.unified_diff import is_diff, read_changes
from repro_runner.output.terminal import plain
from repro_runner.output.units import counted


def try_patch(patch: Path, program: ProgramToRun, *, form: str, less_output: bool, tell: Callable[[str], None]) -> int:
    """Try a patch on the program, print the verdict, and return the exit code. Raises InvalidInput if it does not fit.

    `form` is json or terminal; `tell` gets lines about the progress.
    """
    folder = Path.cwd()
    changes = _read_patch(patch, program, folder)
    with TrialRunner(program) as trials:
        judged = judge_patch(trials, changes, less_output=less_output, tell=tell)
    if form == "json":
        print(document_text(_document(judged, changes, folder)), end="")
    else:
        print("\n".join(map(plain, _lines(judged, folder))))
    return {HOLDS: DONE, HOLDS_FOR_WHAT_RAN: HOLDS_IN_PART}.get(judged.verdict, NOT_AS_IT_SHOULD_BE)


def _read_patch(patch: Path, program: ProgramToRun, folder: Path) -> Mapping[str, tuple[str, str]]:
    """Path -> (text before, text after) of each file. The patch is a diff, or the whole changed program."""
    try:
        text = patch.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(patch, f"can't be read ({error}); name a diff, or a changed copy of the program") from error
    if is_diff(text):
        return read_changes(str(patch), text, folder)
    if not text.strip():
        raise _refused(patch, "is empty; name a diff, or a changed copy of the program")
    file = find_main(script=program.script, module=program.module).file
    try:
        before = read_source(Path(file)).text
    except (OSError, SyntaxError, ValueError) as error:
        raise _refused(file, f"can't be read ({error}); correct it first") from error
    if text == before:
        raise _refused(patch, f"changes nothing: it is the same as {program.name}; name a changed copy")
    return {file: (before, text)}


def _refused(name: object, why: str) -> InvalidInput:
    return InvalidInput([Problem(str(name), why)])


def _sentence(judged: JudgedPatch) -> str:
    if judged.verdict == REFUSED:
        return f"refused{'' if judged.was_run else ', not run'}: {judged.reason}"
    breaks = f"{counted(judged.breaks_after or 0, 'break')} instead of {judged.breaks_before}"
    return f"{judged.verdict}: {breaks}, outputs equal"


def _lines(judged: JudgedPatch, folder: Path) -> Iterator[str]:
    yield _sentence(judged)
    yield from (f"  never reached: {one}" for one in judged.never_reached)
    yield from (f"  not compared: {one}" for one in judged.not_compared)
    yield from (f"  compared: {one}" for one in judged.compared)
    yield from (f"  note: {note}" for note in judged.notes)
    yield from (f"  left: {', '.join(site.gb_ids)} at {where(site, folder)}" for site in judged.sites_after)


def _document(judged: JudgedPatch, changes: Mapping[str, object], folder: Path) -> dict[str, object]:
    return {
        **head("patch-trial", 2),
        "verdict": judged.verdict,
        "sentence": _sentence(judged),
        "reason": judged.reason,
        "was_run": judged.was_run,
        "compared": list(judged.compared),
        "not_compared": list(judged.not_compared),
        "never_reached": list(judged.never_reached),
        "notes": list(judged.notes),
        "breaks_before": judged.breaks_before,
        "breaks_after": judged.breaks_after,
        "outputs": judged.outputs,
        "breaks_left": [
            {"where": where(site, folder), "gb_ids": list(site.gb_ids), "source": site.source}
            for site in judged.sites_after
        ],
        "files": sorted(changes),
    }
