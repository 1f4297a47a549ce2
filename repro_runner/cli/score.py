"""`graphbreak score ANSWERS.jsonl`: check what a language model or an agent answered to the fix benchmark."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from registry.datafile import check_writable
from registry.documents import document_text
from registry.errors import InvalidInput, Problem
from registry.fix_benchmark import FixBenchmark, Task, json_lines, make_benchmark, prompt_text
from registry.knowledge import read_package
from registry.merge import merge_registry
from repro_runner.cli import verb_parser
from repro_runner.cli.model_arguments import more_than_0, positive_number, read_limits
from repro_runner.cli.progress import progress
from repro_runner.cli.targets import check_fail_under, put_text
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.suggestions import did_you_mean
from repro_runner.runner.machine import ReproRun, ThisMachine, known_types
from repro_runner.scoring.answers import Answer, read_answers
from repro_runner.scoring.rules import judge_text
from repro_runner.scoring.scores import Scores
from repro_runner.scoring.verdicts import DOES_NOT_RUN, NO_ANSWER, VERDICTS, Judgement, judge_record

EPILOG = """\
examples:
  graphbreak score --tasks > tasks.jsonl         id and prompt of every task: give a model the prompt, and nothing else
  graphbreak score answers.jsonl                 a line of that file: {{"id": "GB0170", "code": "def fixed(x): ..."}}
  graphbreak score answers.jsonl --format json --out scores.json
  graphbreak score answers.jsonl --fail-under 80
  graphbreak score --reference > reference.jsonl answers made of the registry's own fixes; they solve every task

Answers are code, and they run with your rights. They run in processes of their own, with limits on time and memory, and
without your environment variables. That is not a sandbox. The code is read first, and refused if it goes beyond plain
torch code; --trust runs it in any case. Score answers that you don't trust in a container.

The tasks are those whose fix was verified on the installed release of torch. A task without an answer counts as not
solved.

verdicts:
{verdicts}

exit codes:
  0    every answer was scored, whatever the rate is
  1    with --fail-under, the rate is lower
  2    the arguments or the answers are not valid; nothing was run
  130  interrupted
"""


def main(argv: Sequence[str]) -> int:
    """Score the answers, or print the tasks or the reference answers."""
    arguments = _parser().parse_args(argv)
    _check(arguments)
    benchmark = make_benchmark(merge_registry(read_package()))
    release = _release(benchmark)
    tasks = _choose(benchmark, release, arguments.only)
    if arguments.tasks or arguments.reference:
        answers = ({"id": task.name, "code": task.reference(release).code} for task in tasks)
        put_text(prompt_text(tasks) if arguments.tasks else json_lines(answers), arguments.out)
        return DONE
    scores = _score(tasks, read_answers(arguments.answers, benchmark), arguments)
    put_text(document_text(scores.document()) if arguments.format == "json" else scores.text(), arguments.out)
    is_low = arguments.fail_under is not None and scores.rate < arguments.fail_under
    return NOT_AS_IT_SHOULD_BE if is_low else DONE


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, VERDICTS))
    verdicts = "\n".join(f"  {verdict:{width}}  {meaning}" for verdict, meaning in VERDICTS.items())
    parser = verb_parser(
        "score",
        "Check what a language model or an agent answered to the fix benchmark.",
        EPILOG.format(verdicts=verdicts),
    )
    parser.add_argument("answers", nargs="?", type=Path, metavar="ANSWERS.jsonl", help="one JSON object per line")
    parser.add_argument("--tasks", action="store_true", help="print the tasks instead: id and prompt, one per line")
    parser.add_argument("--reference", action="store_true", help="print answers made of the registry's fixes instead")
    parser.add_argument(
        "--only", metavar="IDS", help="only these tasks: GB0170,GB0007_time; an id stands for all of its tasks"
    )
    parser.add_argument("--backend", choices=["eager", "inductor"], default="eager", help="default: eager")
    parser.add_argument("--jobs", type=positive_number, metavar="N", help="processes at a time (default: cores)")
    parser.add_argument("--timeout", type=more_than_0, default=120.0, metavar="S", help="time for one answer (120)")
    parser.add_argument("--memory", type=more_than_0, default=6.0, metavar="GIB", help="memory for one answer (6)")
    parser.add_argument("--trust", action="store_true", help="also run answers that go beyond plain torch code")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write to a file instead of standard output")
    parser.add_argument("--fail-under", type=float, metavar="N", help="exit code 1 if less than N per cent are solved")
    return parser


def _check(arguments: argparse.Namespace) -> None:
    problems = [*check_fail_under(arguments)]
    if sum(map(bool, (arguments.answers, arguments.tasks, arguments.reference))) != 1:
        problems.append(Problem("graphbreak score", "needs one of: ANSWERS.jsonl, --tasks, --reference"))
    if problems:
        raise InvalidInput(problems)
    if arguments.out:
        check_writable(arguments.out)


def _release(benchmark: FixBenchmark) -> str:
    """The release of torch that is installed; the newest one where there is none. InvalidInput if it has no tasks."""
    try:
        installed = version("torch").partition("+")[0]
    except PackageNotFoundError:
        return next(iter(benchmark.counts))
    if installed not in benchmark.counts:
        known = ", ".join(benchmark.counts)
        raise InvalidInput([Problem(f"torch {installed}", f"no fix was run on it; install one of: {known}")])
    return installed


def _choose(benchmark: FixBenchmark, release: str, only: str | None) -> tuple[Task, ...]:
    tasks = benchmark.on(release)
    if only is None:
        return tasks
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    chosen = {task.name: task for name in wanted for task in tasks if name in (task.name, task.gb_id)}
    names = {name for task in tasks for name in (task.name, task.gb_id)}
    problems = [
        Problem(f"--only {name}", f"no task of torch {release}{did_you_mean(name, names)}")
        for name in wanted
        if name not in names
    ]
    if problems or not chosen:
        raise InvalidInput(problems or [Problem("--only", "names no task; give ids, with commas between them")])
    return tuple(chosen.values())


def _score(tasks: tuple[Task, ...], answers: Mapping[str, Answer], arguments: argparse.Namespace) -> Scores:
    machine = ThisMachine("cpu", limits=read_limits(arguments), slots=arguments.jobs or os.cpu_count() or 1)
    environment = machine.environment()  # raises NoTorch before anything is run
    judgements: dict[str, Judgement] = {}
    runs: list[ReproRun] = []
    types = known_types()
    for task in tasks:
        answer = answers.get(task.name)
        judged = judge_text(task, answer.code, trust=arguments.trust) if answer else Judgement(verdict=NO_ANSWER)
        if judged:
            judgements[task.name] = judged
        elif answer:
            runs.append(
                ReproRun(
                    program=task.name,
                    source=task.source,
                    backend=arguments.backend,
                    other_types=types,
                    answer=answer.code,
                )
            )
    judgements |= dict(_run(machine, runs)) if runs else {}
    lost = Judgement(verdict=DOES_NOT_RUN, cause="the process that runs the answers died")
    return Scores(
        environment=environment,
        backend=arguments.backend,
        models=tuple(sorted({answer.model for answer in answers.values()} - {""})),
        tasks=tasks,
        judgements={task.name: judgements.get(task.name, lost) for task in tasks},
    )


def _run(machine: ThisMachine, runs: Sequence[ReproRun]) -> Iterator[tuple[str, Judgement]]:
    with progress(len(runs), sys.stderr, as_json=False) as display:
        for ended in machine.run(runs, display.started):
            judged = judge_record(ended.record)
            display.ended(replace(ended, record={"verdict": judged.verdict}), "")
            yield ended.program, judged
