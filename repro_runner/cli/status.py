"""`graphbreak status`: print the coverage of the corpus for one torch release."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from registry.coverage import Coverage, by_category, count_coverage, count_failing, count_fixes, count_gradients
from registry.errors import InvalidInput
from registry.knowledge import read_package
from registry.merge import merge_registry
from repro_runner.exit_codes import DONE, REFUSED

_COLUMNS = ("registered", "live", "reproduced", "verified", "elsewhere", "not_run", "unreached", "unexplained")


def main(argv: Sequence[str]) -> int:
    """Print the counts. Exit code 2 if the data can't be read or the release is not known."""
    parser = argparse.ArgumentParser(
        prog="graphbreak status",
        description="Count the ids with a program and a fix.",
        epilog="Without --device, a program counts if it ran on any device.",
    )
    parser.add_argument("--torch", metavar="RELEASE", help="default: the newest release in the registry")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="")
    parser.add_argument("--json", action="store_true", help="the counts as one JSON object")
    arguments = parser.parse_args(argv)
    try:
        known = read_package()
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return REFUSED
    registry = merge_registry(known)
    torch = arguments.torch or registry.releases[-1]
    if torch not in registry.releases:
        print(f"torch {torch} is not one of: {', '.join(registry.releases)}", file=sys.stderr)
        return REFUSED
    total = count_coverage(registry.breaks, torch, arguments.device)
    fixes = count_fixes(registry.breaks, torch, arguments.device)
    gradients = count_gradients(registry.breaks, torch, arguments.device)
    failing = count_failing(registry.breaks, torch, arguments.device)
    if arguments.json:
        print(json.dumps({**asdict(total), "fixes": fixes, "gradients": gradients, "fails_with": failing}))
        return DONE
    ran = [one.device for one in registry.environments if one.torch == torch]
    print(f"torch {torch}, {arguments.device or ' and '.join(dict.fromkeys(ran)) or 'not run'}")
    rows = {**by_category(registry, torch, arguments.device), "all": total}
    print("\n".join(_table(rows)))
    print(f"fixes that hold: {', '.join(f'{count} {kind}' for kind, count in fixes.items())}")
    print("\n".join(_gradient_lines(gradients)))
    for where, names in failing.items():
        print(_listed(f"hold under eager, not with {where}", names))
    return DONE


def _gradient_lines(gradients: dict[str, list[str]]) -> Iterator[str]:
    yield f"gradients as in eager: {len(gradients.pop('equal'))} fixes"
    for said, fixes in gradients.items():
        title = {"excused": "differ, and the file says why", "differs": "differ"}.get(said, f"not compared, {said}")
        if fixes:
            yield _listed(title, fixes)


def _listed(title: str, fixes: Sequence[str]) -> str:
    return textwrap.fill(f"{title}: {len(fixes)} ({', '.join(fixes)})", 100, subsequent_indent="  ")


def _table(rows: dict[str, Coverage]) -> list[str]:
    width = max(map(len, rows))
    lines = [f"{'':{width}}  {'  '.join(_COLUMNS)}"]
    for title, coverage in rows.items():
        counts = "  ".join(f"{getattr(coverage, column):>{len(column)}}" for column in _COLUMNS)
        lines.append(f"{title:{width}}  {counts}")
    return lines
