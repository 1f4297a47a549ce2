"""`graphbreak matrix --torch 2.14.1 2.15.0`: run the corpus on other releases of torch, each in its own environment."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

from registry.datafile import DATA, check_writable, read_data_file
from registry.evidence import BACKENDS
from registry.evidence_file import file_name, parse_document, runs_of
from registry.versions import last_of_each_minor
from repro_runner.cli import verb_parser
from repro_runner.cli.model_arguments import more_than_0, positive_number
from repro_runner.environment import describe_environment
from repro_runner.exit_codes import DONE, INTERRUPTED, REFUSED
from repro_runner.output.terminal import table
from repro_runner.output.units import minutes
from repro_runner.process import run_attached, run_command
from repro_runner.torch_environments import Unavailable, cache_folder, installed, verb_command

_DOCTOR_SECONDS = 300
_VERDICTS = ("verified", "reproduced", "stopped", "other id", "failed", "not applicable")
_DESCRIPTION = """\
Run the programs of the registry, and the scripts of its findings, on several releases of torch. Each release gets an
environment of its own, and its evidence goes into a file of its own.
"""
_EPILOG = """\
environments:
  pip makes one for each release, one at a time, in {cache} (GRAPHBREAK_CACHE names another folder).
  Each takes up to 7 GB, and is removed after its run. With --keep it stays, and is used again.

exit codes:
  0    every release was run; the evidence says what each program does there
  2    the arguments are not valid, or a release could not be installed or run; the others were run
  130  interrupted; what was finished is in the files, and --resume goes on from there
"""


def main(argv: Sequence[str]) -> int:
    """Run each release; return the exit code."""
    arguments = _parser().parse_args(argv)
    releases = _releases(arguments)
    for file in _files(releases[0], arguments):
        check_writable(file)
    codes: dict[str, int] = {}
    began = time.monotonic()
    for release in releases:
        done, remaining = len(codes), len(releases) - len(codes)
        left = f", about {minutes((time.monotonic() - began) / done * remaining)} left" if done else ""
        _say(f"torch {release} ({done + 1} of {len(releases)}{left})")
        codes[release] = _run_release(release, arguments)
        if codes[release] == INTERRUPTED:
            _say("interrupted; --resume goes on from here")
            break
    print("\n".join(table([*_summary(codes, arguments)])))
    return next((code for code in (INTERRUPTED, REFUSED) if code in codes.values()), DONE)


def _parser() -> argparse.ArgumentParser:
    parser = verb_parser("matrix", _DESCRIPTION, _EPILOG.format(cache=cache_folder()))
    parser.add_argument("ids", nargs="*", metavar="ID", help="which programs to run (default: all)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--torch", nargs="+", metavar="RELEASE", help="default: the last of each minor release in registry/releases"
    )
    where.add_argument("--here", action="store_true", help="use the torch that is installed; make no environment")
    parser.add_argument(
        "--python",
        default=sys.executable,
        metavar="PATH",
        help="the interpreter of the environments (default: this one)",
    )
    parser.add_argument("--keep", action="store_true", help="keep the environments")
    parser.add_argument(
        "--backend", action="append", choices=[*BACKENDS, "all"], help="may be repeated (default: eager)"
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--jobs", type=positive_number, metavar="N", help="processes at a time (default: cores)")
    parser.add_argument("--timeout", type=more_than_0, default=120.0, metavar="S", help="time for one program (120)")
    parser.add_argument("--resume", action="store_true", help="skip what the files already have for a program")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the evidence goes (default: the registry)")
    return parser


def _releases(arguments: argparse.Namespace) -> list[str]:
    if arguments.here:
        return [describe_environment(arguments.device)["torch"]]
    known = (path.stem for path in (DATA / "releases").glob("*.json"))
    return list(dict.fromkeys(arguments.torch or last_of_each_minor(known)))


def _files(release: str, arguments: argparse.Namespace) -> tuple[Path, Path]:
    """Where the evidence and the results of findings go."""
    name = file_name({"torch": release, "device": arguments.device})
    if arguments.out:
        return arguments.out / name, arguments.out / f"findings-{name}"
    return DATA / "evidence" / name, DATA / "finding_scripts" / name


def _run_release(release: str, arguments: argparse.Namespace) -> int:
    """Run everything on one release. The exit code says whether its evidence is whole."""
    try:
        with _interpreter(release, arguments) as python:
            return _run(python, release, arguments)
    except Unavailable as error:
        _say(str(error))
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED


def _interpreter(release: str, arguments: argparse.Namespace) -> AbstractContextManager[str]:
    if arguments.here:
        return nullcontext(sys.executable)
    return installed(release, arguments.python, keep=arguments.keep)


def _run(python: str, release: str, arguments: argparse.Namespace) -> int:
    evidence, findings = _files(release, arguments)
    _consult_doctor(python)
    device = ["--device", arguments.device]
    words = ["run", *arguments.ids, *device, "--timeout", str(arguments.timeout), "--out", str(evidence)]
    words += [f"--backend={backend}" for backend in arguments.backend or ()]
    words += ["--jobs", str(arguments.jobs)] if arguments.jobs else []
    words += ["--resume"] if arguments.resume else []
    before = _written(evidence)
    code = run_attached(verb_command(python, words))
    if code not in (DONE, INTERRUPTED) and _written(evidence) == before:
        _say(f"torch {release}: no program was run; the lines above say why")
        code = REFUSED
    if code not in (REFUSED, INTERRUPTED) and not arguments.ids:
        code = run_attached(verb_command(python, ["run", "--findings", *device, "--out", str(findings)]))
    return code if code in (REFUSED, INTERRUPTED) else DONE


def _written(file: Path) -> int | None:
    """When a file was written; None if there is none."""
    return file.stat().st_mtime_ns if file.exists() else None


def _consult_doctor(python: str) -> None:
    """Tell which private names this torch lost. Programs are run all the same: some need none of those."""
    ended = run_command(verb_command(python, ["doctor", "--json"]), seconds=_DOCTOR_SECONDS)
    with suppress(ValueError):
        names = json.loads(ended.stdout.text)["names"]
        if missing := [name["name"] for name in names if name["state"] == "missing"]:
            _say(*textwrap.wrap(f"doctor: this torch lacks {', '.join(missing)}", 100, subsequent_indent="  "))


def _summary(codes: dict[str, int], arguments: argparse.Namespace) -> Iterator[list[str]]:
    """A row per release and backend: how many programs have which verdict."""
    yield ["torch", "backend", *_VERDICTS]
    for release in codes:
        evidence, _ = _files(release, arguments)
        document = parse_document(read_data_file(evidence), str(evidence)) if evidence.exists() else None
        counts: dict[str, Counter[str]] = {}
        for (_, backend), run in runs_of(document).items() if document else ():
            counts.setdefault(backend, Counter())[str(run["verdict"])] += 1
        for backend in BACKENDS:
            if backend in counts:
                yield [release, backend, *(str(counts[backend][verdict]) for verdict in _VERDICTS)]
        if not counts:
            yield [release, "not run", *[""] * len(_VERDICTS)]


def _say(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr, flush=True)
