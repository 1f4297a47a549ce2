#!/usr/bin/env python3
"""The front door: pull Dynamo's registry, merge it with what we know, render, and write docs/."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported where they are used: --help has to start at once
    from registry.errors import Problem
    from sitegen.generation import Generation, Plan

OK, STALE, INVALID, NOT_FRESH, NOT_WRITTEN = range(5)
CRASHED = 70

EXIT_CODES = """\
exit codes:
  0  done
  1  a page or a data file has a problem (the other pages were written), or --check found stale files in docs/
  2  the arguments, the pulled registry or a data file are not valid; nothing was written
  3  the source could not be reached (for `upstream` only with --require-fresh); nothing was written
  4  the disk refused to write; the old files are unchanged
  70 a bug in this program
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character must not end the run
    from registry.errors import InvalidInput, PullFailed, WriteFailed

    try:
        return _run(arguments)
    except InvalidInput as error:
        _report(error.problems)
        return INVALID
    except PullFailed as error:
        _say(f"error: {error}")
        return NOT_FRESH
    except WriteFailed as error:
        _say(f"error: {error}")
        return NOT_WRITTEN
    except KeyboardInterrupt:
        return 130
    except Exception:  # noqa: BLE001 - Python's own code for a crash is 1, and 1 means that pages were written
        traceback.print_exc()
        return CRASHED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="generate_site.py",
        description="Turn Dynamo's graph-break registry into the pages under docs/.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--source",
        metavar="SOURCE",
        help="upstream (default: pytorch main) | snapshot (default with --check) | torch (the installed one) | "
        "release:2.15.0 | URL | FILE",
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="write nothing; exit 1 if docs/ is stale or has a problem")
    mode.add_argument("--diff", action="store_true", help="write nothing; show what would change")
    mode.add_argument(
        "--serve",
        metavar="PORT",
        type=int,
        nargs="?",
        const=4000,
        help="write, then serve on 127.0.0.1 and rebuild on change; no Ruby needed (default port 4000)",
    )
    mode.add_argument(
        "--html", metavar="DIR", type=Path, help="write, then build browsable HTML into DIR; no Ruby needed"
    )
    parser.add_argument("--require-fresh", action="store_true", help="exit 3 instead of falling back to the snapshot")
    parser.add_argument(
        "--accept-shrink", action="store_true", help="accept an upstream that lost over 10 %% of its ids"
    )
    parser.add_argument(
        "--overwrite",
        metavar="ID",
        action="append",
        default=[],
        help="write this page again and drop text outside its note (may be repeated)",
    )
    parser.add_argument(
        "--pull-releases", action="store_true", help="first read new torch releases from pip's package index"
    )
    parser.add_argument("--root", type=Path, help="the checkout (default: this folder, or the first checkout above it)")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    root = _find_root(arguments.root)
    if arguments.pull_releases:
        _pull_releases(root)
    if arguments.serve is not None:
        return _serve(arguments, root)
    code = _generate(arguments, root)
    if arguments.html is not None and code in (OK, STALE):
        from sitegen.preview import write_preview

        write_preview(root / "docs", arguments.html)
        print(f"HTML: open {arguments.html / 'index.html'}")
    return code


def _find_root(given: Path | None) -> Path:
    from registry.errors import InvalidInput, Problem

    candidates = [given] if given else [Path.cwd(), *Path.cwd().parents, Path(__file__).resolve().parent]
    for root in candidates:
        if (root / "docs").is_dir() and (root / "registry" / "snapshot").is_dir():
            return root
    where = str(given or Path.cwd())
    raise InvalidInput(
        [Problem(where, "not a checkout of the graph break registry; cd to one, or name it with --root")]
    )


def _generate(arguments: argparse.Namespace, root: Path) -> int:
    from registry.snapshot import read_snapshot
    from registry.sources import pull
    from sitegen.generation import Generation

    started = time.monotonic()
    spec = arguments.source or ("snapshot" if arguments.check else "upstream")
    snapshot = read_snapshot(root / "registry" / "snapshot")
    pulled = pull(spec, snapshot, accept_shrink=arguments.accept_shrink)
    _report(pulled.warnings, "warning: ")
    if not pulled.fresh:
        _say(f"WARNING: upstream was not reached ({pulled.failure});")
        _say(f"WARNING: using the snapshot: {snapshot.origin.source} of {snapshot.origin.retrieved}")
        if arguments.require_fresh:
            return NOT_FRESH
    generation = Generation(
        root=root,
        snapshot=snapshot,
        pulled=pulled,
        keep=spec == "upstream" and pulled.fresh,
        overwrite=frozenset(gb_id.upper() for gb_id in arguments.overwrite),
    )
    if arguments.check:
        return _check(generation, spec, started)
    if arguments.diff:
        return _diff(generation, started)
    return _write(generation, started)


def _write(generation: Generation, started: float) -> int:
    last = generation.last_run()
    if generation.nothing_to_do(last):
        ids = len(generation.pulled.wordings)
        print(f"{ids} ids upstream; nothing changed, nothing rendered; {_seconds(started)}")
        return OK
    done = generation.write(generation.plan(last), last)
    return _summarise(generation, done, "written", started)


def _diff(generation: Generation, started: float) -> int:
    from sitegen.write import diff_changes

    plan = generation.plan()
    sys.stdout.writelines(diff_changes(plan.changes, generation.root))
    return _summarise(generation, plan, "would be written", started)


def _check(generation: Generation, spec: str, started: float) -> int:
    plan = generation.plan()
    _report(plan.warnings, "warning: ")
    _report(plan.problems)
    for change in plan.changes:
        print(f"stale: {generation.shown(change)}")
    if plan.changes:
        source = "" if spec == "upstream" else f" --source {spec}"
        print(f"{len(plan.changes)} files are stale; run `python generate_site.py{source}` and commit the result")
    elif not plan.problems:
        print(f"docs/ is up to date with {generation.pulled.origin.source}; {_seconds(started)}")
    return STALE if plan.changes or plan.problems else OK


def _summarise(generation: Generation, plan: Plan, verb: str, started: float) -> int:
    _report(plan.warnings, "warning: ")
    _report(plan.problems)
    old, new = generation.snapshot.wordings, generation.pulled.wordings
    reworded = sum(1 for gb_id in old.keys() & new.keys() if old[gb_id] != new[gb_id])
    notes, files = sum(1 for gb in plan.registry if gb.note), len(plan.changes)
    print(
        f"{len(plan.registry)} ids: {len(new.keys() - old.keys())} new, {reworded} reworded, "
        f"{len(old.keys() - new.keys())} retired upstream since the snapshot; "
        f"{notes} note{'' if notes == 1 else 's'} kept; "
        f"{files} file{'' if files == 1 else 's'} {verb}; {_seconds(started)}"
    )
    return STALE if plan.problems else OK


def _pull_releases(root: Path) -> None:
    from registry.pull_releases import pull_releases
    from registry.releases import dump_release
    from sitegen.progress import release_progress
    from sitegen.write import plan_changes, write_changes

    folder = root / "registry" / "releases"
    with release_progress() as progress:
        releases = pull_releases([path.stem for path in folder.glob("*.json")], progress)
    write_changes(plan_changes(folder, {f"{release.torch}.json": dump_release(release) for release in releases}))
    print(f"new torch releases: {', '.join(release.torch for release in releases) or 'none'}")


def _serve(arguments: argparse.Namespace, root: Path) -> int:
    from sitegen.preview import render_preview
    from sitegen.serve import serve

    def build() -> dict[str, bytes]:
        _generate(arguments, root)
        arguments.source = "snapshot"  # a rebuild is about files that changed here: no need to ask upstream again
        return render_preview(root / "docs")

    serve(build, [root / "docs", root / "templates", root / "registry"], arguments.serve)
    return OK


def _report(problems: Iterable[Problem], prefix: str = "") -> None:
    """Print problems, one line each, then their number; with a prefix they are only warnings, and not counted."""
    lines = [f"{prefix}{problem}" for problem in problems]
    if lines and not prefix:
        lines.append(f"{len(lines)} problem{'s' if len(lines) > 1 else ''}")
    for line in lines:
        _say(line)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _seconds(started: float) -> str:
    return f"{time.monotonic() - started:.2f} s"


if __name__ == "__main__":
    sys.exit(main())
