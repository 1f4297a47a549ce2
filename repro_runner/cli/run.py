"""`graphbreak run [IDS]`: run repros, find their breaks, verify their fixes, and write evidence."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from registry.datafile import DATA, check_writable, read_data_file, write_data_file
from registry.errors import InvalidInput, Problem, WriteFailed
from registry.evidence import BACKENDS
from registry.evidence_file import Document, dump_document, file_name, new_document, parse_document, put_run
from registry.model import HOLDS_FOR_WHAT_RAN, Repro
from registry.repros import read_repros
from registry.result_files import result_text
from repro_runner.cli import verb_parser
from repro_runner.cli.model_arguments import more_than_0, positive_number
from repro_runner.cli.progress import progress
from repro_runner.environment import NoGpu, NoTorch
from repro_runner.exit_codes import DONE, HOLDS_IN_PART, INTERRUPTED, NOT_AS_IT_SHOULD_BE, REFUSED
from repro_runner.process import Limits
from repro_runner.runner.cluster import Cluster, ClusterUnfit, connected
from repro_runner.runner.machine import Finished, ReproRun, ThisMachine, known_types

EXIT_CODES = """\
exit codes:
  0    every program gave its own id, and every fix works
  1    some program failed, stopped breaking, gave another id, or has a fix that does not work
  2    the arguments or a data file are not valid; nothing was run
  3    as 0, but some fix holds only for what ran: no input reached a part that it replaces, which is named
  130  interrupted; what was finished is in the file
"""


def main(argv: Sequence[str]) -> int:
    """Run; return the exit code."""
    arguments = _parser().parse_args(argv)
    answers = sys.stdout  # Ray's own output is redirected to standard error
    try:
        if arguments.messages:
            return _run_messages(arguments)
        if arguments.lessons:
            return _run_lessons(arguments)
        if arguments.findings:
            return _run_findings(arguments)
        repros = _choose(arguments)
        with _executor(arguments) as executor:
            environment = executor.environment()
            out = arguments.out or DATA / "evidence" / file_name(environment)
            check_writable(out)
            document = parse_document(read_data_file(out), str(out)) if out.exists() else new_document(environment)
            jobs = [job for job in _jobs(repros, arguments) if not (arguments.resume and _has(document, job, repros))]
            return _run(executor, jobs, repros, arguments, document, environment, out, answers)
    except (InvalidInput, WriteFailed, NoTorch, NoGpu, ClusterUnfit) as error:
        print(error, file=sys.stderr)
        return REFUSED


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser("run", "Run repros, name their breaks, verify their fixes, write evidence.", EXIT_CODES)
    parser.add_argument("ids", nargs="*", metavar="ID", help="which repros to run (default: all in registry/repros)")
    parser.add_argument(
        "--messages", action="store_true", help="run the programs in registry/message_programs instead; ID is a name"
    )
    parser.add_argument(
        "--backend", action="append", choices=[*BACKENDS, "all"], help="may be repeated (default: eager)"
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--jobs", type=positive_number, metavar="N", help="processes at a time (default: cores)")
    parser.add_argument("--timeout", type=more_than_0, default=120.0, metavar="S", help="time for one program (120)")
    parser.add_argument("--memory", type=more_than_0, default=6.0, metavar="GIB", help="memory for one program (6)")
    parser.add_argument("--shard", metavar="I/N", help="only the I-th of N parts")
    parser.add_argument(
        "--isolate", choices=["fork", "process"], default="fork", help="process: import torch again each time"
    )
    parser.add_argument(
        "--executor",
        choices=["local", "ray"],
        default="local",
        help="ray: on the cluster at RAY_ADDRESS, or here",
    )
    parser.add_argument("--lessons", action="store_true", help="record what the programs in examples/ print instead")
    parser.add_argument("--findings", action="store_true", help="run the scripts in registry/finding_scripts instead")
    parser.add_argument("--resume", action="store_true", help="skip what the file already has for this repro")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the evidence file")
    parser.add_argument("--json", action="store_true", help="one JSON object per program on standard output")
    return parser


def _run_messages(arguments: argparse.Namespace) -> int:
    """Run message programs, a line each; their records go to a file beside them."""
    from registry.knowledge import read_package
    from registry.matching import Matcher
    from registry.merge import merge_registry
    from registry.message_programs import KIND, SCHEMA, find_problems
    from repro_runner.runner.messages import run_message_program

    registry = merge_registry(read_package())
    known = {name: one for name, one in registry.message_programs.items() if one.device == arguments.device}
    matcher = Matcher.from_registry(registry)

    def run(name: str) -> tuple[dict[str, Any], str]:
        record = run_message_program(known[name], matcher)
        return record, "\n".join(find_problems({name: record}))

    _check_names(arguments, known, "has no program in registry/message_programs, or none for this device")
    chosen = arguments.ids or list(known)
    return _record(arguments, DATA / "message_programs", chosen, run, partial(result_text, KIND, SCHEMA))


def _run_lessons(arguments: argparse.Namespace) -> int:
    """Run lessons, a line each; what they print goes to registry/lessons/."""
    from registry.lessons import KIND, SCHEMA
    from repro_runner.lessons.recording import find_lessons, record_lesson

    own_device = arguments.device == "cpu"
    known = {name: one for name, one in find_lessons().items() if own_device or one.uses(arguments.device)}

    def run(name: str) -> tuple[dict[str, Any], str]:
        record, failure = record_lesson(known[name])
        return record, f"{name}: {failure}" if failure else ""

    _check_names(arguments, known, "is no lesson, or none for this device; `graphbreak learn --list` has them")
    return _record(arguments, DATA / "lessons", arguments.ids or list(known), run, partial(result_text, KIND, SCHEMA))


def _run_findings(arguments: argparse.Namespace) -> int:
    """Run the scripts of findings, a line each; what they print goes to a file beside them."""
    from registry.findings import KIND, SCHEMA, read_scripts
    from repro_runner.runner.findings import run_script

    folder = DATA / "finding_scripts"
    known = read_scripts(folder)

    def run(name: str) -> tuple[dict[str, Any], str]:
        record, problem = run_script(known[name], folder, arguments.device)
        return record, f"{name}: {problem}" if problem else ""

    _check_names(arguments, known, "is no script in registry/finding_scripts")
    return _record(arguments, folder, arguments.ids or list(known), run, partial(result_text, KIND, SCHEMA))


def _check_names(arguments: argparse.Namespace, known: Collection[str], why: str) -> None:
    if unknown := [Problem(name, why) for name in arguments.ids if name not in known]:
        raise InvalidInput(unknown)


def _record(
    arguments: argparse.Namespace,
    folder: Path,
    names: Iterable[str],
    run: Callable[[str], tuple[dict[str, Any], str]],
    dump: Callable[[Mapping[str, str], Mapping[str, Any]], str],
) -> int:
    """Run programs one by one, and keep each record as soon as there is one. `run` gives it, and what does not hold."""
    from repro_runner.environment import describe_environment

    environment = describe_environment(arguments.device)
    out = arguments.out or folder / file_name(environment)
    check_writable(out)
    records = json.loads(read_data_file(out))["records"] if out.exists() else {}
    bad = 0
    for name in names:
        record, problems = run(name)
        if record:
            records[name] = record
            write_data_file(out, dump(environment, records))
        bad += bool(problems)
        print(problems or f"{name}: holds", flush=True)
    return NOT_AS_IT_SHOULD_BE if bad else DONE


def _choose(arguments: argparse.Namespace) -> dict[str, Repro]:
    repros = read_repros(DATA / "repros")
    wanted = {given: _programs_of(given, repros) for given in arguments.ids} or {"": sorted(repros)}
    if unknown := [Problem(given, "has no repro in registry/repros") for given, names in wanted.items() if not names]:
        raise InvalidInput(unknown)
    chosen = {name: repros[name] for names in wanted.values() for name in names}
    if arguments.shard is None:
        return chosen
    part, _, parts = arguments.shard.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise InvalidInput([Problem(f"--shard {arguments.shard}", "not a part such as 2/8")])
    return {name: repro for index, (name, repro) in enumerate(chosen.items()) if index % int(parts) == int(part) - 1}


def _programs_of(given: str, repros: Mapping[str, Repro]) -> list[str]:
    """The program of that name, or all programs of that id."""
    if "_" in given:
        return [given] if given in repros else []
    return sorted(name for name, repro in repros.items() if repro.gb_id == given.upper())


def _jobs(repros: Mapping[str, Repro], arguments: argparse.Namespace) -> Iterator[ReproRun]:
    types = known_types()
    backends = arguments.backend or ["eager"]
    for backend in BACKENDS if "all" in backends else dict.fromkeys(backends):
        for name, repro in repros.items():
            yield ReproRun(
                program=name, source=repro.source, backend=backend, device=arguments.device, other_types=types
            )


def _has(document: Document, job: ReproRun, repros: Mapping[str, Repro]) -> bool:
    record = document["records"].get(job.program, {})
    return record.get("repro_sha256") == repros[job.program].sha256 and bool(record["runs"].get(job.backend))


def _executor(arguments: argparse.Namespace) -> AbstractContextManager[ThisMachine | Cluster]:
    limits = Limits(seconds=arguments.timeout, memory=int(arguments.memory * 1024**3))
    if arguments.executor == "ray":
        return connected(arguments.device, isolate=arguments.isolate, limits=limits, slots=arguments.jobs)
    slots = arguments.jobs or os.cpu_count() or 1
    return nullcontext(ThisMachine(arguments.device, isolate=arguments.isolate, limits=limits, slots=slots))


def _run(
    executor: ThisMachine | Cluster,
    jobs: list[ReproRun],
    repros: Mapping[str, Repro],
    arguments: argparse.Namespace,
    document: Document,
    environment: dict[str, str],
    out: Path,
    answers: TextIO,
) -> int:
    verdicts: Counter[str] = Counter()
    worst = DONE
    try:
        with progress(len(jobs), answers, as_json=arguments.json) as display:
            for ended in executor.run(jobs, display.started):
                document = put_run(
                    document, ended.program, repros[ended.program].sha256, ended.backend, ended.record, environment
                )
                write_data_file(out, dump_document(document))  # at once, so that a kill loses only running jobs
                verdicts[str(ended.record["verdict"])] += 1
                worst = max(worst, exit_code(ended), key=_BAD_TO_WORSE.index)
                display.ended(ended, ended.problem)
    except KeyboardInterrupt:
        print(f"interrupted; {verdicts.total()} of {len(jobs)} are in {out.name}", file=sys.stderr)
        return INTERRUPTED
    missing = len(jobs) - verdicts.total()
    summary = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())) or "nothing to run"
    print(f"{summary}{f'; {missing} not run' if missing else ''}; {out.name}", file=sys.stderr)
    return NOT_AS_IT_SHOULD_BE if missing else worst


_BAD_TO_WORSE = (DONE, HOLDS_IN_PART, NOT_AS_IT_SHOULD_BE)


def exit_code(ended: Finished) -> int:
    """What the run of one program ends with."""
    if ended.problem:
        return NOT_AS_IT_SHOULD_BE
    return HOLDS_IN_PART if HOLDS_FOR_WHAT_RAN in ended.levels.values() else DONE
