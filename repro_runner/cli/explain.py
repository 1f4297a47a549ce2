"""`graphbreak explain SCRIPT [ARGS…]`: run a program, and show where its graphs break, how often, and how to fix it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

from registry.errors import InvalidInput, Problem, WriteFailed
from repro_runner.cli import PrintFile
from repro_runner.cli.targets import add_also, check_fail_under, check_targets
from repro_runner.environment import describe_environment
from repro_runner.exit_codes import DONE, INTERRUPTED, NOT_AS_IT_SHOULD_BE, REFUSED
from repro_runner.explain.allowed import (
    Entry,
    Judgement,
    allow_list,
    check_allow_target,
    judge_sites,
    read_allowed,
    write_allowed,
)
from repro_runner.explain.program import ProgramToRun, flush_stdout, keep_stdout, usable, write_stdout
from repro_runner.explain.render.ci import CI_FORMATS
from repro_runner.explain.render.measures import share_of_ops
from repro_runner.explain.render.sentences import ended, failed, unlisted, where
from repro_runner.explain.render.view import Outcome
from repro_runner.explain.report import Report
from repro_runner.explain.site import Observed, Suggestion
from repro_runner.output.terminal import plain
from repro_runner.output.units import counted

if TYPE_CHECKING:
    from repro_runner.explain.render.terminal import Screen
    from repro_runner.fix_report import Children
    from repro_runner.fix_report.fixed_program import Fixing

OUTPUT_FORMATS = ("terminal", "json", "md", "html", *CI_FORMATS)

USAGE = "graphbreak explain [options] SCRIPT [ARGS ...]\n       graphbreak explain [options] -m MODULE [ARGS ...]"

EPILOG = """\
examples:
  graphbreak explain train.py --epochs 1         options of explain come before the script, the script's after it
  graphbreak explain -m package.train
  graphbreak explain --summary train.py          by category: which kind of break to work on first
  graphbreak explain --format html --out breaks.html train.py
  graphbreak explain --compile model:Net.forward infer.py       for a script that does not call torch.compile
  graphbreak explain --no-fullgraph train.py     all breaks of a script that is compiled with fullgraph=True
  graphbreak explain --report handover/ train.py                report.md, repros that were run, and train_fixed.py
  graphbreak explain --fix train.py              each fix that works, on your own lines; your files are not edited
  graphbreak explain --share train.py            how much of it ran inside graphs
  graphbreak explain --cost train.py             what each break costs per call, and what a verified fix gains
  graphbreak explain --try fix.diff train.py     is this patch a fix? A diff, or the changed train.py; no file is edited
  graphbreak explain --against 2.15.0 train.py   what another release of torch changes; pip installs it, up to 7 GB

in CI, so that nobody adds breaks unnoticed:
  graphbreak explain --write-allow breaks.allow train.py        once: allow what is there today
  graphbreak explain --fail-on-break --allow breaks.allow train.py
  graphbreak explain --fail-under 90 train.py                   fewer than 90 % of op calls inside graphs: exit code 1
  graphbreak explain --format github --fail-on-break train.py   annotations in a pull request; also sarif, junit,
                                                gitlab; `--also sarif=FILE` writes another format of the same run

a line of that file has an id, a file pattern, or both; x2 allows at most two such sites:
  GB0124
  vendor/**                      # `*` stands for anything, slashes too
  GB0170 src/model.py x2

The program runs in this process, unchanged, with the backend it asks for. In --format json, md and html without --out,
standard output holds the document alone: what the program prints goes to standard error.
--fix, --report, --share, --cost and --fail-under run it again, in separate processes: if it writes files, it writes
them again. --try runs it about ten times in such processes, with and without the patch.

exit codes:
  0    done; breaks are no failure without --fail-on-break
  1    the program failed, or, with --fail-on-break, a break is not allowed; standard error's last line says which
       or, with --fail-under, too little ran inside graphs, or it could not be measured
       or, with --try, the patch is refused
  2    the arguments or a file are not valid; the program was not run
       or, with --try, the patch does not apply
  3    with --try: the patch holds for what ran; what never ran or could not be compared is named
  130  interrupted; the report covers what ran until then
"""
_ONLY_OURS = (
    "--try",
    "--fix",
    "--cost",
    "--share",
    "--report",
    "--fail-on-break",
    "--fail-under",
    "--allow",
    "--write-allow",
)
"""Options that programs hardly ever have."""
_MOST = 5
"""How many breaks are named in one line."""


def main(argv: Sequence[str]) -> int:
    """Run the program, show the report, and write the requested files."""
    parser = _make_parser()
    arguments = parser.parse_args(argv)
    words = _program_words(arguments)
    if not words:
        parser.error("name a script, or -m and a module; `graphbreak explain --help` has examples")
    _check_options(arguments, words)
    if misplaced := [word for word in words[1:] if word.partition("=")[0] in _ONLY_OURS]:
        _to_stderr(f"note: {', '.join(misplaced)} went to {words[0]}; explain's own options stand before it")
    try:
        if arguments.against:
            return _compare(arguments, words)
        return _try_patch(arguments, words) if arguments.patch else _explain(arguments, words)
    except KeyboardInterrupt:
        _to_stderr("interrupted")
        return INTERRUPTED


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="graphbreak explain",
        usage=USAGE,
        description="Run a program, and show where its graphs break, how often, and what to do.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    # Everything after the script or the module belongs to the program.
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="SCRIPT", help="a script, and its arguments")
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, default=[], metavar="MODULE", help="a module, as for python -m"
    )
    shown = parser.add_argument_group("what is shown")
    shown.add_argument("--format", choices=OUTPUT_FORMATS, default="terminal", help="default: terminal")
    shown.add_argument("--out", type=Path, metavar="FILE", help="where to write; default: standard output")
    add_also(shown, OUTPUT_FORMATS)
    shown.add_argument("--summary", action="store_true", help="breaks by category, with what to do")
    schema, said = "explain/explain.schema.json", "print the JSON Schema of --format json, and run nothing"
    shown.add_argument("--schema", action=PrintFile, nargs=0, const=schema, help=said)
    run = parser.add_argument_group("how the program is run")
    run.add_argument(
        "--compile",
        action="append",
        default=[],
        metavar="MODULE:FUNC",
        help="compile this function, method or class of the program; may be repeated",
    )
    run.add_argument(
        "--against",
        metavar="RELEASE",
        help="run it with this release of torch, too, and show what is different; pip installs that release",
    )
    run.add_argument("--no-fullgraph", action="store_true", help="run with fullgraph off: every break is listed")
    kept = parser.add_argument_group("what is kept and checked")
    kept.add_argument("--save", type=Path, metavar="FILE", help="the JSON document, for `graphbreak add` and `compare`")
    kept.add_argument(
        "--report",
        type=Path,
        metavar="FOLDER",
        help="write a report to share, a repro per break and a fixed program; runs the program again",
    )
    kept.add_argument(
        "--torch-xla",
        action="store_true",
        help="with --report: write a script per break for torch_xla, too, which takes the submodule out of your model; "
        "it is not run; on by default for a program that imports torch_xla",
    )
    kept.add_argument("--fail-on-break", action="store_true", help="exit code 1 if a break is not allowed")
    kept.add_argument("--allow", type=Path, metavar="FILE", help="the breaks that are allowed")
    kept.add_argument("--write-allow", type=Path, metavar="FILE", help="write a file that allows all breaks of today")
    _add_measuring(parser.add_argument_group("what is tried and measured; the program is run again for it"))
    model = parser.add_argument_group("a language model's explanation; nothing is ever sent without --llm")
    model.add_argument("--llm", action="store_true", help="ask about the most frequent breaks, and try its patches")
    model.add_argument("--show-prompt", action="store_true", help="print what would be sent")
    model.add_argument("--llm-url", default="", metavar="URL", help="the server; default: OPENAI_BASE_URL")
    model.add_argument("--llm-model", default="", metavar="NAME", help="default: OPENAI_MODEL")
    return parser


def _add_measuring(measured: argparse._ArgumentGroup) -> None:
    measured.add_argument("--fix", action="store_true", help="try fixes on the program, and show those that work")
    measured.add_argument(
        "--try",
        dest="patch",
        type=Path,
        metavar="PATCH",
        help="say whether this patch is a fix: fewer breaks, the same results, the same output",
    )
    measured.add_argument(
        "--allow-less-output", action="store_true", help="with --try: a patch may remove what the program prints"
    )
    measured.add_argument("--share", action="store_true", help="the share of ops, calls and time inside graphs")
    measured.add_argument(
        "--cost",
        action="store_true",
        help="--share and --fix, what each break costs per call, highest first, and the program with and without fixes",
    )
    measured.add_argument(
        "--fail-under",
        type=float,
        metavar="N",
        help="exit code 1 if fewer than N per cent of op calls ran inside graphs",
    )


def _program_words(arguments: argparse.Namespace) -> list[str]:
    """The program and its arguments. With `-mMODULE`, argparse puts the arguments into the other list."""
    words = [*arguments.module, *arguments.command]
    return words[1:] if words[:1] == ["--"] else words


def _check_options(arguments: argparse.Namespace, words: list[str]) -> None:
    """Raise InvalidInput with everything that is wrong, before the program runs."""
    problems = [*_check_program(arguments, words[0]), *check_targets(arguments, "out", "save", "write_allow")]
    if arguments.write_allow:
        problems += check_allow_target(arguments.write_allow)
    if arguments.against:
        problems += _check_alone(arguments, "--against", ("terminal", "json", "md"))
    elif arguments.patch:
        problems += _check_alone(arguments, "--try", ("terminal", "json"))
    if arguments.allow_less_output and not arguments.patch:
        problems.append(Problem("--allow-less-output", "is only for --try; leave it out, or name a patch"))
    if arguments.torch_xla and not arguments.report:
        problems.append(Problem("--torch-xla", "is only for --report; leave it out, or name a folder with --report"))
    problems += check_fail_under(arguments)
    if arguments.allow:
        problems += _problems_of(lambda: read_allowed(arguments.allow))
    if arguments.report:
        from repro_runner.fix_report import check_folder

        problems += _problems_of(lambda: check_folder(arguments.report))
    if arguments.llm:
        from repro_runner.assistant import read_settings

        problems += _problems_of(lambda: read_settings(url=arguments.llm_url, model=arguments.llm_model))
    if problems:
        raise InvalidInput(problems)


def _check_alone(arguments: argparse.Namespace, option: str, formats: tuple[str, ...]) -> Iterator[Problem]:
    """With --against and with --try one text is printed, and nothing else is done."""
    others = ("out", "also", "summary", "save", "report", "fail_on_break", "allow", "write_allow", "llm", "show_prompt")
    for name in (*others, "fix", "share", "cost"):
        if getattr(arguments, name):
            yield Problem(f"--{name.replace('_', '-')}", f"does not go with {option}; leave it out")
    if arguments.patch and option != "--try":
        yield Problem("--try", f"does not go with {option}; leave it out")
    if arguments.format not in formats:
        yield Problem(f"--format {arguments.format}", f"does not go with {option}; choose {' or '.join(formats[1:])}")


def _problems_of(check: Callable[[], object]) -> tuple[Problem, ...]:
    try:
        check()
    except InvalidInput as error:
        return error.problems
    return ()


def _check_program(arguments: argparse.Namespace, name: str) -> Iterator[Problem]:
    if not arguments.module and not Path(name).is_file():
        yield Problem(name, "no such script; name a Python file, or a module with -m")
    for text in arguments.compile:
        module, _, function = text.rpartition(":")
        if not module or not function:
            yield Problem(f"--compile {text}", "write a module and a function in it: --compile model:Net.forward")


def _compare(arguments: argparse.Namespace, words: list[str]) -> int:
    """Run the program with both releases of torch, and print what `graphbreak compare` prints."""
    from repro_runner.cli.compare import compare_with_release

    options = [f"--compile={text}" for text in arguments.compile] + ["--no-fullgraph"] * arguments.no_fullgraph
    form = "text" if arguments.format == "terminal" else arguments.format
    return compare_with_release(arguments.against, [*options, *["-m"] * bool(arguments.module), *words], form)


def _try_patch(arguments: argparse.Namespace, words: list[str]) -> int:
    from repro_runner.cli.patch_trial import try_patch

    return try_patch(
        arguments.patch,
        _program(arguments, words),
        form=arguments.format,
        less_output=arguments.allow_less_output,
        tell=_to_stderr,
    )


def _program(arguments: argparse.Namespace, words: list[str]) -> ProgramToRun:
    describe_environment("cpu")  # raises NoTorch early, if torch is not installed
    return ProgramToRun(
        script="" if arguments.module else words[0],
        module=words[0] if arguments.module else "",
        arguments=tuple(words[1:]),
        compiled=tuple(arguments.compile),
        allow_breaks=arguments.no_fullgraph,
    )


def _explain(arguments: argparse.Namespace, words: list[str]) -> int:
    program = _program(arguments, words)
    entries = read_allowed(arguments.allow) if arguments.allow else None
    with keep_stdout(alone=arguments.format != "terminal" and arguments.out is None) as stdout:
        start = _Start(
            arguments=arguments,
            program=program,
            folder=Path.cwd(),
            process=os.getpid(),
            entries=entries,
            screen=_screen(arguments),
            stdout=stdout,
        )
        report = _run(start)
        if os.getpid() != start.process:  # this is a child that the program forked: its parent shows the report
            return report.program.exit_code or DONE
        return _show(start, report)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """The state before the program runs, because the program may change it."""

    arguments: argparse.Namespace
    program: ProgramToRun
    folder: Path
    process: int
    entries: tuple[Entry, ...] | None
    screen: Screen | None
    stdout: FileIO


def _run(start: _Start) -> Report:
    from repro_runner.explain.running import run_program

    streams = sys.stdout, sys.stderr

    def put_back() -> None:
        """Restore streams and folder. The program may have replaced or closed the streams and changed the folder."""
        sys.stdout, sys.stderr = map(usable, streams)
        os.chdir(start.folder)

    def leaving(report: Report) -> int:
        put_back()
        try:
            return _show(start, report)
        except (WriteFailed, BrokenPipeError) as error:
            _to_stderr(str(error))
            return REFUSED

    try:
        return run_program(start.program, leaving=leaving)
    finally:
        put_back()
        flush_stdout()


def _show(start: _Start, report: Report) -> int:
    """Run the program again, if that was asked for, show the report, and write the requested files. Returns the exit
    code."""
    from repro_runner.fix_report import Children

    with Children() as children:
        return _show_with(children, start, report)


def _show_with(children: Children, start: _Start, report: Report) -> int:
    arguments, folder = start.arguments, start.folder
    fixing = _fix(arguments, report, start.program, children)
    _measure(arguments, report, start.program, children, fixing)
    outcome = Outcome(
        report=report,
        judgement=_judge(start, report),
        suggestions=_suggestions(arguments, report, start.program),
    )

    from repro_runner.explain.document import outcome_text
    from repro_runner.explain.render.formats import Wishes, read_and_render

    wishes = Wishes(
        summary=arguments.summary,
        screen=start.screen,
        folder=folder,
        fullgraph_off=arguments.no_fullgraph,
        fails=arguments.fail_on_break,
    )

    def text_in(form: str) -> str:
        return outcome_text(outcome) if form == "json" else read_and_render(outcome, replace(wishes, format=form))

    try:
        for form, path in arguments.also:
            _write(path, text_in(form))
        if arguments.out is None:
            write_stdout(start.stdout, text_in(arguments.format))
        else:
            _write(arguments.out, text_in(arguments.format))
        if arguments.show_prompt:
            _show_prompts(arguments, report, start.stdout)
    finally:  # also if `| head` has closed the pipe
        _keep(arguments, outcome, folder)
    if arguments.report and report.program.exit_code != INTERRUPTED:
        _write_fix_report(arguments, report, start.program, children, fixing)
    return _verdict(arguments, outcome, folder)


def _judge(start: _Start, report: Report) -> Judgement | None:
    """What is allowed; None if neither a file nor a comment says anything of that."""
    judgement = judge_sites(report, start.entries or (), folder=start.folder)
    spoken = start.entries is not None or judgement.allowed or judgement.notes
    return judgement if spoken else None


def _fix(arguments: argparse.Namespace, report: Report, program: ProgramToRun, children: Children) -> Fixing | None:
    """Find the fixes that hold on the program, if that was asked for."""
    wanted = arguments.fix or arguments.report or (arguments.cost and not failed(report.program))
    if not wanted or report.program.exit_code == INTERRUPTED:
        return None
    from repro_runner.fix_report.fixing import find_fixes

    return find_fixes(report, program, children, tell=_to_stderr)


def _measure(
    arguments: argparse.Namespace, report: Report, program: ProgramToRun, children: Children, fixing: Fixing | None
) -> None:
    """Add to the report what further runs of the program measure, if that was asked for."""
    wanted = arguments.share or arguments.cost or arguments.fail_under is not None
    if not wanted or report.program.exit_code == INTERRUPTED:
        return
    from repro_runner.fix_report import measure_program

    times = arguments.share or arguments.cost
    wanted_fixing = fixing if arguments.cost else None
    measure_program(report, program, children, times=times, fixing=wanted_fixing, tell=_to_stderr)


def _suggestions(arguments: argparse.Namespace, report: Report, program: ProgramToRun) -> tuple[Suggestion, ...] | None:
    """The suggestions of a language model, after trying them; None if no model was asked."""
    if not arguments.llm or report.program.exit_code == INTERRUPTED:
        return None
    from repro_runner.assistant import ask, read_settings
    from repro_runner.explain.render.formats import read_answers

    settings = read_settings(url=arguments.llm_url, model=arguments.llm_model)
    return ask(report, program, settings, answers=read_answers(), tell=_to_stderr)


def _show_prompts(arguments: argparse.Namespace, report: Report, stdout: FileIO) -> None:
    """Show the prompts after a report for the terminal. A document must be alone on standard output."""
    from repro_runner.assistant import render_prompts
    from repro_runner.explain.render.formats import read_answers

    lines: list[str] = []
    for number, prompt in enumerate(render_prompts(report, answers=read_answers()), 1):
        lines += ["", f"----- prompt {number} -----", prompt]
    text = "\n".join([*lines, ""])
    if arguments.format == "terminal" and arguments.out is None:
        write_stdout(stdout, text)
    else:
        _to_stderr(text)


def _keep(arguments: argparse.Namespace, outcome: Outcome, folder: Path) -> None:
    if arguments.save:
        from repro_runner.explain.document import outcome_text

        _write(arguments.save, outcome_text(outcome))
    if arguments.write_allow:
        write_allowed(arguments.write_allow, allow_list(outcome.report, folder=folder))
        _to_stderr(f"{arguments.write_allow} written")


def _write_fix_report(
    arguments: argparse.Namespace, report: Report, program: ProgramToRun, children: Children, fixing: Fixing | None
) -> None:
    from repro_runner.explain.render.formats import read_registry
    from repro_runner.fix_report import findings_of_program, write_fix_report

    folder, torch_xla = arguments.report, arguments.torch_xla or "torch_xla" in sys.modules
    findings = findings_of_program(report, program, torch_xla=torch_xla)
    written = write_fix_report(folder, findings, read_registry(), fixing=fixing, children=children, tell=_to_stderr)
    _to_stderr(f"{written.report} written")


def _screen(arguments: argparse.Namespace) -> Screen | None:
    """The width and colours of standard output; None if no text for a terminal is written there."""
    if arguments.out is not None or arguments.format != "terminal":
        return None
    from repro_runner.explain.render.terminal import screen_of

    return screen_of(sys.stdout)


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise WriteFailed(f"{path}: {error.strerror}; name another file") from error
    _to_stderr(f"{path} written")


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _verdict(arguments: argparse.Namespace, outcome: Outcome, folder: Path) -> int:
    """The exit code. If it is not 0, the last line on standard error says why."""
    report = outcome.report
    if report.program.exit_code == INTERRUPTED:
        code, whys = INTERRUPTED, [ended(report.program)]
    elif failed(report.program):
        code, whys = NOT_AS_IT_SHOULD_BE, [ended(report.program)]
    else:
        code = NOT_AS_IT_SHOULD_BE
        whys = [*_not_allowed(arguments, outcome, folder), *_too_little(arguments, report)]
    if not whys:
        return DONE
    _to_stderr(f"exit code {code}: {plain('; '.join(whys))}")
    return code


def _not_allowed(arguments: argparse.Namespace, outcome: Outcome, folder: Path) -> Iterator[str]:
    refused = outcome.report.sites if outcome.judgement is None else outcome.judgement.new
    if arguments.fail_on_break and refused:
        listed = ", ".join(f"{site.gb_ids[0]} at {where(site, folder)}" for site in refused[:_MOST])
        more = f" and {len(refused) - _MOST} more" if len(refused) > _MOST else ""
        yield f"{counted(len(refused), 'break is', 'breaks are')} not allowed: {listed}{more}"
    elif arguments.fail_on_break and outcome.report.unlisted:
        yield unlisted(outcome.report)


def _too_little(arguments: argparse.Namespace, report: Observed) -> Iterator[str]:
    """With --fail-under, why that failed. A share that is not known is no pass."""
    share = report.share
    if arguments.fail_under is not None and share and (share.per_cent is None or share.per_cent < arguments.fail_under):
        yield f"{share_of_ops(share)}; --fail-under asks for {arguments.fail_under:g} %"
