"""`graphbreak show GB0042`: print the wording, history and source of one id, from the data in the package."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections.abc import Sequence

from registry.datafile import DATA
from registry.errors import InvalidInput
from registry.ids import page_address, read_gb_id
from registry.knowledge import read_package
from registry.merge import merge_registry
from registry.model import Evidence, GraphBreak
from registry.standalone import standalone
from repro_runner.exit_codes import DONE, REFUSED

SITE_BUILT_HERE = DATA.parent / "_site"
"""By `make site`."""


def main(argv: Sequence[str]) -> int:
    """Print what is known about an id. Exit code 2 if there is no such id."""
    parser = argparse.ArgumentParser(prog="graphbreak show", description="Show what the registry knows about an id.")
    parser.add_argument("gb_id", metavar="ID", help="GB0042, gb0042, or only the number")
    parser.add_argument("--script", action="store_true", help="print its program as a script that you can run")
    parser.add_argument("--open", action="store_true", help="open its page in a browser (that of `make site` if built)")
    arguments = parser.parse_args(argv)
    gb_id = read_gb_id(arguments.gb_id)
    try:
        known = read_package()
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return REFUSED
    found = next((gb for gb in merge_registry(known) if gb.gb_id == gb_id), None)
    if found is None:
        print(f"{arguments.gb_id}: no such graph break; ids look like GB0042", file=sys.stderr)
        return REFUSED
    if arguments.script:
        return _print_script(found)
    if arguments.open:
        return _open_page(found)
    category = next((c.title for c in known.categories if c.key == found.category), found.category)
    print("\n".join(_lines(found, category)))
    return DONE


def _open_page(gb: GraphBreak) -> int:
    """Open the page that `make site` built here, or else the published one."""
    built = SITE_BUILT_HERE / "gb" / f"{gb.gb_id.lower()}.html"
    address = built.as_uri() if built.is_file() else page_address(gb.gb_id)
    if not address:
        print(f"{gb.gb_id} has no page on the public site; `make site` builds one here", file=sys.stderr)
        return REFUSED
    print(address)
    if not webbrowser.open(address):
        print("no browser was found: open the address above yourself", file=sys.stderr)
    return DONE


def _print_script(gb: GraphBreak) -> int:
    if gb.repro is None:
        print(f"{gb.gb_id}: {_no_program(gb)}", file=sys.stderr)
        return REFUSED
    print(standalone(gb.repro), end="")
    return DONE


def _lines(gb: GraphBreak, category: str) -> list[str]:
    newest, history = gb.newest, gb.history
    lines = [f"{gb.gb_id}: {gb.gb_type}", f"kind         {category}", f"standing     {gb.lifecycle}"]
    if history.first_release:
        lines.append(f"registered   since torch {history.first_release}")
    for seen in history.releases[-1:]:
        lines += [
            f"emitted      {site.file}:{site.line} in {site.function} (torch {seen.torch})" for site in seen.call_sites
        ]
    lines.append(f"context      {newest.context or '(none given)'}")
    lines.append(f"explanation  {newest.explanation or '(none given)'}")
    lines += [f"hint         {''.join(hint)}" for hint in gb.revisions[0].hints] or ["hint         (none given)"]
    older = {dated.revision.gb_type for dated in gb.revisions[1:]} - {gb.gb_type}
    lines += [f"once read    {gb_type}" for gb_type in sorted(older)]
    lines += [f"run          {_seen(one)}" for one in gb.evidence] or [f"run          ({_no_program(gb)})"]
    if message := next((one.message for one in reversed(gb.evidence) if one.message), ""):
        lines += ["message", *(f"  | {line}".rstrip() for line in message.splitlines())]
    return lines


def _no_program(gb: GraphBreak) -> str:
    if gb.unreached is not None:
        where = gb.unreached.environment
        why = f"it needs {where}; none was run there" if where else f"no program can cause it: {gb.unreached.category}"
        return f"{why}. {gb.unreached.evidence}"
    return f"no program yet; `graphbreak new {gb.gb_id}` starts one"


def _seen(evidence: Evidence) -> str:
    where = evidence.environment
    verdicts = ", ".join(f"{backend} {verdict}" for backend, verdict in evidence.verdicts.items())
    return f"torch {where.torch}, {where.device}: {verdicts}"
