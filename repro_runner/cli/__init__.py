"""The `graphbreak` command: one module per verb, imported when it is called."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

VERBS = {
    "merge": "join evidence files of shards into one",
    "new": "start a repro for an id",
    "run": "run repros, name their breaks, prove their fixes, write evidence",
    "status": "how far the corpus reaches",
    "show": "what the registry knows of an id",
    "watch": "run a repro again whenever it is saved",
}


EXIT_CODES = """\
exit codes of every verb:
  0    done, and all is as it should be
  1    done, but something that was run is not as it should be
  2    the arguments or a data file are not valid, or what is asked for is not there; nothing was done
  130  interrupted; what had ended is kept
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="graphbreak",
        description="From a graph break to what is known of it.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, summary in VERBS.items():
        verbs.add_parser(verb, help=summary, add_help=False)
    arguments, rest = parser.parse_known_args(argv)
    module = importlib.import_module(f"repro_runner.cli.{arguments.verb}")
    return int(module.main(rest))


if __name__ == "__main__":
    sys.exit(main())
