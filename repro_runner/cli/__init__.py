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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="graphbreak", description="From a graph break to what is known of it.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, summary in VERBS.items():
        verbs.add_parser(verb, help=summary, add_help=False)
    arguments, rest = parser.parse_known_args(argv)
    module = importlib.import_module(f"repro_runner.cli.{arguments.verb}")
    return int(module.main(rest))


if __name__ == "__main__":
    sys.exit(main())
