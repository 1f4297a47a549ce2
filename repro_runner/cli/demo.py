"""`graphbreak demo`: a guided tour of the toolkit on a tiny model."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence

from repro_runner.environment import describe_environment
from repro_runner.exit_codes import DONE, INTERRUPTED, NOT_AS_IT_SHOULD_BE
from repro_runner.process.isolated import isolation
from repro_runner.runs import RunFolder

EPILOG = """\
exit codes:
  0    everything went as it should
  1    a step did not end as it should
  2    there is no torch here, or the disk refuses
  130  interrupted; what was finished is kept
"""


def main(argv: Sequence[str]) -> int:
    """Run the tour. On a terminal it waits between steps."""
    parser = argparse.ArgumentParser(
        prog="graphbreak demo",
        description="A guided tour on a tiny model: check, diff, guards, minify, artifacts, report. About a minute.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--no-pause", action="store_true", help="do not wait for Enter between the steps")
    arguments = parser.parse_args(argv)
    waits = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.no_pause
    try:
        return _tour(waits)
    except (KeyboardInterrupt, EOFError):
        print("\ninterrupted; `graphbreak artifacts list` shows what had ended", file=sys.stderr)
        return INTERRUPTED


def _tour(waits: bool) -> int:
    environment = describe_environment("cpu")
    from repro_runner.demo.tour import take_tour

    run = RunFolder.create("demo", subject="model.py:make_model", environment=environment)
    _print_text("A tiny model, a device that can't do all of it, and a backend with a fault: six commands.")
    with isolation("repro_runner.report.steps", "repro_runner.minifier"):  # torch is imported once for all commands
        surprises = take_tour(run, _print_text, _pause if waits else lambda: None)
    if surprises:
        _print_text("\nThese did not end as they should:")
        _print_text("\n".join(f"$ {step.command}" for step in surprises))
        return NOT_AS_IT_SHOULD_BE
    _print_text("\nThat was the tour. The report needs neither network nor script: open it in a browser.")
    return DONE


def _print_text(text: str) -> None:
    """Print sentences wrapped to the width of a page, and commands and code unchanged."""
    for line in text.split("\n"):
        kept = line.startswith(("$", " "))
        print(line if kept else textwrap.fill(line, 100, break_on_hyphens=False), flush=True)


def _pause() -> None:
    print("\n[Enter] goes on, Ctrl-C ends: ", end="", flush=True)  # `input` would print it on standard error
    input()
