"""The `graphbreak` command: one module per verb, imported when it is called."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from registry.errors import InvalidInput, WriteFailed
from repro_runner.environment import NoGpu, NoTorch
from repro_runner.exit_codes import INTERRUPTED, NOT_AS_IT_SHOULD_BE, REFUSED, describe_exit_codes
from repro_runner.output.terminal import plain

VERBS = {
    "add": "add the breaks of a saved run to the registry, as seen in your program",
    "analyze": "show what a run found: guards, constraints, graphs, numerics, or a summary",
    "artifacts": "list the runs on disk, or delete them",
    "bench": "measure models with several backends, and what a break costs",
    "check": "show what a device would refuse in a model, and which ops it lacks",
    "clean": "short for `artifacts clean`: delete runs, after asking",
    "compare": "compare the breaks of two runs, for example before and after a change",
    "demo": "a guided tour on a tiny model",
    "diff": "show where a backend's numbers differ from eager's, and the first op that differs",
    "doctor": "check that the installed torch has every private name that we use",
    "explain": "run a script, and show where its graphs break, how often, and what to do",
    "guards": "explain a model's guards, breaks and recompiles in plain words",
    "learn": "learn how torch.compile works: lessons that run on your machine",
    "list": "short for `artifacts list`: list the runs on disk",
    "log": "find the breaks in logs, traces and tracebacks, with their fixes; needs no torch",
    "matrix": "run the programs of the registry on several releases of torch",
    "mcp": "serve the registry and your scripts to a coding agent: Model Context Protocol, over stdio",
    "merge": "join the evidence files of shards into one",
    "minify": "find the smallest program that fails in the same way as a model",
    "new": "start a repro for an id",
    "report": "write everything about a model, a run, or several runs, into one HTML file",
    "run": "run repros, name their breaks, verify their fixes, write evidence",
    "score": "check a language model's answers to the fix benchmark",
    "search": "find graph breaks by words, by code or by a message; needs no torch",
    "show": "show what the registry knows about an id",
    "status": "count the ids with a program and a fix",
    "ui": "show the runs of a folder in a browser, compare them, and start new ones",
    "watch": "run a repro again whenever it is saved",
}
SHORT_FORMS = {"clean": ["artifacts", "clean"], "list": ["artifacts", "list"]}


def verb_parser(verb: str, description: str, epilog: str, *, usage: str | None = None) -> argparse.ArgumentParser:
    """The parser of a verb's arguments. Its texts keep their lines."""
    kept = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(f"graphbreak {verb}", usage, description, epilog, formatter_class=kept)


class PrintFile(argparse.Action):
    """Print a file of this package and end, as --help does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print((Path(__file__).parents[1] / str(self.const)).read_text("utf-8"), end="", flush=True)
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="graphbreak",
        description="Find, explain and fix graph breaks of torch.compile.",
        epilog=describe_exit_codes(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, summary in VERBS.items():
        verbs.add_parser(verb, help=summary, add_help=False)
    words = list(sys.argv[1:] if argv is None else argv)
    # Everything after the verb belongs to the verb, or even to the script: `explain SCRIPT --help`.
    given = str(parser.parse_args(words[:1]).verb)
    verb, *arguments = SHORT_FORMS.get(given, [given]) + words[1:]
    try:
        module = importlib.import_module(f"repro_runner.cli.{verb}")
        code = int(module.main(arguments))
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # `| head` has closed the pipe; Python would print an error when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_AS_IT_SHOULD_BE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except (InvalidInput, WriteFailed, NoTorch, NoGpu) as error:
        # The text has names and contents of files. Their control characters must not reach the terminal.
        print("\n".join(map(plain, str(error).split("\n"))), file=sys.stderr)
        return REFUSED


if __name__ == "__main__":
    sys.exit(main())
