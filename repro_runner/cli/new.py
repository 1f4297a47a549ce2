"""`graphbreak new GB0042`: start a repro from the registry's texts and from the line in torch that raises the break."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from registry.datafile import DATA, write_data_file
from registry.errors import InvalidInput, WriteFailed
from registry.knowledge import read_package
from registry.merge import merge_registry
from registry.model import CallSite, GraphBreak
from repro_runner.exit_codes import DONE, REFUSED

_AROUND = 12
"""How many lines of torch's source are shown before and after the call."""

_BODY = '''
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x


def fixed(x):
    """When to choose this."""
    return x
'''


def main(argv: Sequence[str]) -> int:
    """Write the file. Exit code 2 if there is no such id, or if there is a repro already."""
    parser = argparse.ArgumentParser(prog="graphbreak new", description="Start a repro for an id.")
    parser.add_argument("gb_id", metavar="ID")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: registry/repros/ID.py")
    arguments = parser.parse_args(argv)
    try:
        breaks = {gb.gb_id: gb for gb in merge_registry(read_package())}
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return REFUSED
    gb = breaks.get(arguments.gb_id.upper())
    if gb is None:
        print(f"{arguments.gb_id}: no such graph break; ids look like GB0042", file=sys.stderr)
        return REFUSED
    out = arguments.out or DATA / "repros" / f"{gb.gb_id}.py"
    if out.exists():
        print(f"{out}: is there already; edit it, or name another file with --out", file=sys.stderr)
        return REFUSED
    try:
        write_data_file(out, "\n".join(_lines(gb)))
    except WriteFailed as error:
        print(error, file=sys.stderr)
        return REFUSED
    print(f"{out}: replace the docstring, `broken` and `fixed`, and keep it in view of `graphbreak watch {out}`")
    return DONE


def _lines(gb: GraphBreak) -> Iterator[str]:
    yield '"""What the user did, and why Dynamo can\'t go on."""'
    yield f"# {gb.gb_id}: {gb.gb_type}"
    for label, text in (("context", gb.newest.context), ("explanation", gb.newest.explanation)):
        yield from (f"# {label}: {line}" for line in text.splitlines())
    yield from (f"# hint: {line}" for hint in gb.revisions[0].hints for line in "".join(hint).splitlines())
    live = next((seen for seen in reversed(gb.history.releases) if seen.live), None)
    for site in live.call_sites if live else ():
        yield "#"
        yield f"# {site.file}:{site.line} in {site.function} (torch {live.torch if live else ''})"
        yield from _source(site)
    yield _BODY


def _source(site: CallSite) -> Iterator[str]:
    """Yield the lines around the call in the installed torch. They are found by file and type, not by line number."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return
    path = Path(found.origin).parent.parent / site.file
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    at = next((number for number, line in enumerate(lines) if f'gb_type="{site.gb_type}"' in line), None)
    if at is not None:
        yield from (f"#   {line}".rstrip() for line in lines[max(0, at - _AROUND) : at + _AROUND])
